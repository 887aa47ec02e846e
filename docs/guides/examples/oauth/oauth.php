<?php
// php oauth.php: opens nothing by itself; open the address that it prints
$server = getenv('SERVER');
$redirectUri = getenv('REDIRECT_URI');
$base64url = fn (string $bytes) => rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
$verifier = $base64url(random_bytes(32));
$state = $base64url(random_bytes(16));
$query = http_build_query([
    'response_type' => 'code',
    'client_id' => getenv('PUBLIC_KEY'),
    'redirect_uri' => $redirectUri,
    'state' => $state,
    'code_challenge' => $base64url(hash('sha256', $verifier, true)),
    'code_challenge_method' => 'S256',
]);

$socket = stream_socket_server('tcp://127.0.0.1:' . parse_url($redirectUri, PHP_URL_PORT));
echo "$server/oauth/authorize?$query\n";
do {
    $browser = stream_socket_accept($socket, -1);
    [, $address] = [...explode(' ', (string) fgets($browser)), '', ''];
    parse_str((string) parse_url($address, PHP_URL_QUERY), $sent);
    // Somebody else's code must not be taken for this merchant's.
    $isOurs = hash_equals($state, $sent['state'] ?? '');
    fwrite($browser, $isOurs
        ? "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nClose this window."
        : "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nThis is not the answer to what was asked.");
    fclose($browser);
} while (!$isOurs);
if (!isset($sent['code'])) {
    fwrite(STDERR, "not connected: $sent[error]\n");
    exit(1);
}

$form = http_build_query([
    'grant_type' => 'authorization_code',
    'code' => $sent['code'],
    'code_verifier' => $verifier,
    'redirect_uri' => $redirectUri,
    'client_id' => getenv('PUBLIC_KEY'),
    'client_secret' => getenv('PRIVATE_KEY'),
]);
$type = 'Content-Type: application/x-www-form-urlencoded';
$context = stream_context_create(['http' => ['method' => 'POST', 'header' => $type, 'content' => $form]]);
$token = json_decode(file_get_contents("$server/oauth/token", false, $context), true)['access_token']; // a secret: keep it, and refresh_token

$context = stream_context_create(['http' => ['header' => "Authorization: Bearer $token"]]);
foreach (json_decode(file_get_contents(getenv('API') . '/Products?limit=3', false, $context), true) as $product) {
    echo $product['SKUInfo']['SKU'], "\n";
}
