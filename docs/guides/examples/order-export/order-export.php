<?php
// php order-export.php folder: brings the folder up to date and ends; run it every minute, or as often as you like
$api = getenv('API');
$folder = $argv[1];
is_dir($folder) || mkdir($folder, 0777, true);

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/**
 * Reads an address. Returns the code of a refusal, the body and the address of the next page. not-found (nothing
 * matches) and gone have neither.
 */
function read(string $address): array
{
    $keys = ['SecureURL: ' . getenv('SECURE_URL'), 'PrivateKey: ' . getenv('PRIVATE_KEY'), 'Token: ' . getenv('TOKEN')];
    $context = stream_context_create(['http' => ['header' => $keys, 'ignore_errors' => true, 'timeout' => 60]]);
    for ($tries = 1; $tries <= 8; $tries++) {
        $http_response_header = [];
        $text = @file_get_contents($address, false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        $headers = implode("\n", $http_response_header);
        if ($status === 200) {
            $next = preg_match('/^link: <([^>]+)>; rel="next"/mi', $headers, $found) ? $found[1] : null;
            return ['', json_decode($text, true), $next];
        }
        $code = preg_match('/^x-error-code: (\S+)/mi', $headers, $found) ? $found[1] : '';
        if ($code === 'not-found' || $code === 'gone') {
            return [$code, [], null];
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            fail("$address: $status $text");
        }
        sleep(preg_match('/^retry-after: (\d+)/mi', $headers, $found) ? (int) $found[1] : $tries);
    }
    fail("$address: no answer after 8 tries");
}

/** Replaces a file as a whole, so that a kill leaves the former one or the new one. */
function store(string $folder, string $name, mixed $value): void
{
    if (!file_put_contents("$folder/$name.new", json_encode($value)) || !rename("$folder/$name.new", "$folder/$name")) {
        fail("$folder/$name cannot be written");
    }
}

$fileOfOrder = fn ($order) => "order-$order[OrderID].json";
$fileOfReturn = fn ($return) => "return-$return[RMAID].json";

/**
 * Asks where the feed stands, and then reads everything: what changes meanwhile comes by the feed. Whatever fails ends
 * the program before it stores a place.
 */
$begin = function () use ($api, $folder, $fileOfOrder, $fileOfReturn): int {
    [, $newest] = read("$api/Events?after=newest");
    $after = $newest[0]['Sequence'] ?? 0;
    $current = [];
    foreach ([['/Orders?limit=300', $fileOfOrder], ['/RMA?limit=500', $fileOfReturn]] as [$path, $fileOf]) {
        for ($next = $api . $path; $next;) {
            [, $records, $next] = read($next);
            foreach ($records as $record) {
                store($folder, $fileOf($record), $record);
                $current[$fileOf($record)] = true;
            }
        }
    }
    // What an earlier beginning left, and the store no longer has.
    foreach (preg_grep('/^(order|return)-\d+\.json$/', scandir($folder)) as $file) {
        isset($current[$file]) || unlink("$folder/$file");
    }
    store($folder, 'after.json', $after);
    return $after;
};

// The kinds by name, because a server may have more than this program knows.
$files = [];
foreach (read("$api/Webhooks/Events")[1] as ['EventName' => $name]) {
    if (str_starts_with($name, 'Order ')) {
        $files[$name] = $fileOfOrder;
    }
    if (str_starts_with($name, 'Return ')) {
        $files[$name] = $fileOfReturn;
    }
}

$after = file_exists("$folder/after.json") ? (int) file_get_contents("$folder/after.json") : $begin();
while (true) {
    [$code, $events] = read("$api/Events?after=$after&limit=100");
    if ($code === 'gone') {
        $after = $begin(); // events after this place were deleted, or the store was reset
        continue;
    }
    if ($events === []) {
        break;
    }
    foreach ($events as $event) {
        ['EventName' => $name, 'Record' => $record] = $event;
        if ($name === 'Return Deleted') {
            @unlink("$folder/{$fileOfReturn($record)}");
        } elseif (isset($files[$name])) {
            store($folder, $files[$name]($record), $record);
        }
        $after = $event['Sequence'];
    }
    // Only now: after a kill before this line the same events come again.
    store($folder, 'after.json', $after);
}
