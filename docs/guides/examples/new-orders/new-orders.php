<?php
// php new-orders.php
function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

function call(string $method, string $path, array $headers = [], ?array $body = null): array
{
    $keys = [
        'SecureURL: ' . getenv('SECURE_URL'), 'PrivateKey: ' . getenv('PRIVATE_KEY'), 'Token: ' . getenv('TOKEN'),
        'Content-Type: application/json',
    ];
    $http = ['method' => $method, 'header' => [...$keys, ...$headers], 'ignore_errors' => true];
    if ($body !== null) {
        $http['content'] = json_encode($body);
    }
    $text = file_get_contents(getenv('API') . $path, false, stream_context_create(['http' => $http]));
    $code = preg_match('/^x-error-code: (\S+)/mi', implode("\n", $http_response_header), $found) ? $found[1] : '';
    return [(int) explode(' ', $http_response_header[0])[1], $text, $code];
}

// getOrder with status 1; not-found is what "No Data Found" was.
[$status, $text, $code] = call('GET', '/Orders?orderstatus=1&limit=100');
if ($status !== 200 && $code !== 'not-found') {
    fail("$status $text");
}
$orders = $status === 200 ? json_decode($text, true) : [];
foreach ($orders as $order) {
    $lines = array_map(fn ($line) => "$line[ItemQuantity] x $line[ItemID]", $order['OrderItemList']);
    echo "$order[InvoiceNumberPrefix]$order[InvoiceNumber] ", implode(', ', $lines), "\n";
}

// updateOrderStatus, of all of them at once. 206: some were refused; the answer says which.
$accepted = array_map(fn ($order) => ['OrderID' => $order['OrderID'], 'OrderStatusID' => 2], $orders);
if ($accepted !== []) {
    [$status, $text] = call('PUT', '/Orders', ['Idempotency-Key: ' . bin2hex(random_bytes(16))], $accepted);
    if ($status !== 200) {
        fail("$status $text");
    }
}
