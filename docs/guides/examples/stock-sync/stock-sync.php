<?php
// php stock-sync.php stock.csv, with lines such as LAMP-1;12, or LAMP-1;+3;delivery-4711-1 for three more

/** Sends a request until it has an answer that stays. Returns status, headers by their names in lower case, and text. */
function call(string $address, string $method = 'GET', array $headers = [], ?array $body = null): array
{
    $keys = [
        'SecureURL: ' . getenv('SECURE_URL'), 'PrivateKey: ' . getenv('PRIVATE_KEY'), 'Token: ' . getenv('TOKEN'),
        'Content-Type: application/json',
    ];
    $http = ['method' => $method, 'header' => [...$keys, ...$headers], 'ignore_errors' => true, 'timeout' => 60];
    if ($body !== null) {
        $http['content'] = json_encode($body);
    }
    for ($tries = 1; $tries <= 8; $tries++) {
        $http_response_header = [];
        $text = @file_get_contents($address, false, stream_context_create(['http' => $http]));
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        $received = [];
        foreach ($http_response_header as $line) {
            [$name, $value] = [...explode(': ', $line, 2), ''];
            $received[strtolower($name)] = $value;
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            return [$status, $received, $text];
        }
        sleep((int) ($received['retry-after'] ?? 0) ?: $tries);
    }
    exit("$address: no answer after $tries tries\n");
}

/** Returns the products by SKU, page by page. */
function readProducts(string $api): array
{
    $products = [];
    $next = "$api/Products/skuinfo?limit=200";
    while ($next) {
        [$status, $headers, $text] = call($next);
        if ($status === 404) { // no product at all
            break;
        }
        if ($status !== 200) {
            exit("$status $text\n");
        }
        $products += array_column(json_decode($text, true), null, 'SKU');
        $next = preg_match('/<([^>]+)>; rel="next"/', $headers['link'] ?? '', $found) ? $found[1] : null;
    }
    return $products;
}

/** Sets the stock, if it is another one. Reads again when somebody else was first. */
function setStock(string $address, float $stock): string
{
    while (true) {
        [$status, $headers, $text] = call($address);
        if ($status !== 200) {
            return "cannot be read: $status $text";
        }
        $before = json_decode($text, true)[0]['SKUInfo']['Stock'];
        if ($before == $stock) {
            return 'unchanged';
        }
        $conditions = ["If-Match: $headers[etag]", 'Idempotency-Key: ' . bin2hex(random_bytes(16))];
        [$status, , $text] = call($address, 'PUT', $conditions, ['SKUInfo' => ['Stock' => $stock]]);
        if ($status === 200) {
            return "$before -> $stock";
        }
        if ($status !== 412) {
            return "was refused: $status $text";
        }
    }
}

/** Adds to the stock that there is, or takes off. With the same key the store does it once, however often it is sent. */
function adjustStock(string $address, int $by, string $key): string
{
    [$status, , $text] = call($address, 'PUT', ["Idempotency-Key: $key"], ['SKUInfo' => ['StockAdjust' => $by]]);
    return $status === 200 ? "adjusted by $by" : "was refused: $status $text";
}

$api = getenv('API');
$products = readProducts($api);
foreach (file($argv[1], FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $line) {
    [$sku, $stock, $key] = [...explode(';', $line), ''];
    $product = $products[trim($sku)] ?? null;
    if ($product === null) {
        echo "$sku is not in the store\n";
    } elseif (in_array($stock[0], ['+', '-'])) {
        echo "$sku ", adjustStock("$api/Products/$product[CatalogID]", (int) $stock, $key), "\n";
    } elseif ($product['Stock'] != (float) $stock) {
        echo "$sku ", setStock("$api/Products/$product[CatalogID]", (float) $stock), "\n";
    }
}
