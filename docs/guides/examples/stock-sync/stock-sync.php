<?php
// php stock-sync.php stock.csv
// Lines are such as LAMP-1;12 (there are 12) or LAMP-1;+3;delivery-4711-2 (3 more, and the name of the change).

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/**
 * Sends a request until it has an answer that stays: the same bytes with the same key in each try.
 * Returns status, headers by their names in lower case, and text.
 */
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
        $wait = (int) ($received['retry-after'] ?? 0);
        // in-progress: the first try with this key is still running.
        $isRunning = ($received['x-error-code'] ?? '') === 'in-progress';
        if ($status !== 0 && $status !== 429 && $status < 500 && !$isRunning) {
            return [$status, $received, $text];
        }
        sleep($wait ?: $tries);
    }
    fail("$address: no answer after 8 tries");
}

/** Returns the products by SKU in lower case, page by page. */
function readProducts(string $api): array
{
    $products = [];
    $next = "$api/Products/skuinfo?limit=200";
    while ($next) {
        [$status, $headers, $text] = call($next);
        if (($headers['x-error-code'] ?? '') === 'not-found') { // no product at all
            break;
        }
        if ($status !== 200) {
            fail("$next: $status $text");
        }
        foreach (json_decode($text, true) as $info) {
            $products[strtolower($info['SKU'])] = $info;
        }
        $next = preg_match('/<([^>]+)>; rel="next"/', $headers['link'] ?? '', $found) ? $found[1] : null;
    }
    return $products;
}

/** Sets the stock, if it is another one. Reads again, and takes a new key, when somebody else was first. */
function setStock(string $address, float $stock): string
{
    for ($tries = 1; $tries <= 8; $tries++) {
        [$status, $headers, $text] = call($address);
        if ($status !== 200) {
            throw new RuntimeException("cannot be read: $status $text");
        }
        $before = json_decode($text, true)[0]['SKUInfo']['Stock'];
        if ($before == $stock) {
            return 'unchanged';
        }
        $conditions = ["If-Match: $headers[etag]", 'Idempotency-Key: ' . bin2hex(random_bytes(16))];
        [$status, $headers, $text] = call($address, 'PUT', $conditions, ['SKUInfo' => ['Stock' => $stock]]);
        if ($status === 200) {
            return "$before -> $stock";
        }
        if (($headers['x-error-code'] ?? '') !== 'precondition-failed') {
            break;
        }
    }
    throw new RuntimeException("was refused: $status $text");
}

/** Adds to the stock as it is at that moment; with the same name again, within 24 hours, nothing more. */
function adjustStock(string $api, string $sku, int $added, string $name): string
{
    $change = [['SKUInfo' => ['SKU' => $sku, 'StockAdjust' => $added]]];
    [$status, , $text] = call("$api/Products", 'PUT', ["Idempotency-Key: $name"], $change);
    if ($status !== 200) {
        throw new RuntimeException("was refused: $status $text");
    }
    return "adjusted by $added";
}

$api = getenv('API');
$products = readProducts($api);
$isRefused = false;
foreach (file($argv[1], FILE_IGNORE_NEW_LINES) ?: [] as $index => $line) {
    $line = trim(preg_replace('/^\xEF\xBB\xBF/', '', $line));
    if ($line === '') {
        continue;
    }
    [$sku, $stock, $name] = array_map('trim', [...explode(';', $line), '', '']);
    try {
        $product = $products[strtolower($sku)] ?? throw new RuntimeException('is not in the store');
        if (preg_match('/^[+-]\d+$/', $stock) && $name !== '') {
            echo "$sku ", adjustStock($api, $product['SKU'], (int) $stock, $name), "\n";
        } elseif (!preg_match('/^\d+(\.\d+)?$/', $stock)) {
            throw new RuntimeException('needs a number, or +n or -n and the name of the change');
        } elseif ($product['Stock'] != (float) $stock) {
            echo "$sku ", setStock("$api/Products/$product[CatalogID]", (float) $stock), "\n";
        }
    } catch (RuntimeException $error) {
        fwrite(STDERR, 'line ' . $index + 1 . ": $sku {$error->getMessage()}\n");
        $isRefused = true;
    }
}
exit($isRefused ? 1 : 0);
