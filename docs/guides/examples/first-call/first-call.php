<?php
// php first-call.php
$headers = ['SecureURL: ' . getenv('SECURE_URL'), 'PrivateKey: ' . getenv('PRIVATE_KEY'), 'Token: ' . getenv('TOKEN')];
$context = stream_context_create(['http' => ['header' => $headers, 'ignore_errors' => true]]);
$text = file_get_contents(getenv('API') . '/Products?limit=5', false, $context);
if (!str_contains($http_response_header[0], ' 200 ')) {
    fwrite(STDERR, "$http_response_header[0] $text\n");
    exit(1);
}
foreach (json_decode($text, true) as ['SKUInfo' => $info]) {
    echo "$info[SKU] $info[Price] $info[Stock]\n";
}
