<?php
// OLD_API=https://… php compare-counts.php
$headers = ['SecureURL: ' . getenv('SECURE_URL'), 'PrivateKey: ' . getenv('PRIVATE_KEY'), 'Token: ' . getenv('TOKEN')];
$context = stream_context_create(['http' => ['header' => $headers, 'ignore_errors' => true]]);
$count = function (string $api, string $service) use ($context): int {
    $text = file_get_contents("$api/$service?countonly=1", false, $context);
    if (!str_contains($http_response_header[0] ?? '', ' 200 ')) {
        fwrite(STDERR, "$api/$service: $text\n");
        exit(1);
    }
    return json_decode($text, true)['TotalCount'];
};
$isEqual = true;
foreach (['Products', 'Orders', 'Customers', 'Category', 'Manufacturers', 'Distributors'] as $service) {
    [$there, $here] = [$count(getenv('OLD_API'), $service), $count(getenv('API'), $service)];
    echo "$service $there $here ", $there === $here ? 'equal' : 'DIFFERENT', "\n";
    $isEqual = $isEqual && $there === $here;
}
exit($isEqual ? 0 : 1);
