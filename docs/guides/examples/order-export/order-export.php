<?php
// php order-export.php folder: brings the folder up to date and ends; run it every minute, or as often as you like
$api = getenv('API');
$folder = $argv[1];
is_dir($folder) || mkdir($folder, 0777, true);

/** Reads an address. Returns status, body and the address of the next page; 404 and 410 have no body. */
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
            return [$status, json_decode($text, true), $next];
        }
        if ($status === 404 || $status === 410) {
            return [$status, [], null];
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            exit("$address: $status $text\n");
        }
        sleep(preg_match('/^retry-after: (\d+)/mi', $headers, $found) ? (int) $found[1] : $tries);
    }
    exit("$address: no answer after 8 tries\n");
}

/** Replaces a file as a whole, so that a kill leaves the former one or the new one. */
function store(string $folder, string $name, mixed $value): void
{
    file_put_contents("$folder/$name.new", json_encode($value));
    rename("$folder/$name.new", "$folder/$name");
}

$storeOrder = fn ($order) => store($folder, "order-$order[OrderID].json", $order);
$storeReturn = fn ($return) => store($folder, "return-$return[RMAID].json", $return);

/** Remembers where the feed stands, and then reads everything: what changes meanwhile comes by the feed. */
$begin = function () use ($api, $folder, $storeOrder, $storeReturn): int {
    [, $newest] = read("$api/Events?after=newest");
    $after = $newest[0]['Sequence'] ?? 0;
    foreach ([['/Orders?limit=300', $storeOrder], ['/RMA?limit=500', $storeReturn]] as [$path, $keep]) {
        for ($next = $api . $path; $next;) {
            [, $records, $next] = read($next);
            array_walk($records, $keep);
        }
    }
    store($folder, 'after.json', $after);
    return $after;
};

// The kinds by name, because a server may have more than this program knows.
$keepers = [];
foreach (read("$api/Webhooks/Events")[1] as ['EventName' => $name]) {
    if (str_starts_with($name, 'Order ')) {
        $keepers[$name] = $storeOrder;
    }
    if (str_starts_with($name, 'Return ')) {
        $keepers[$name] = $storeReturn;
    }
}

$after = file_exists("$folder/after.json") ? (int) file_get_contents("$folder/after.json") : $begin();
while (true) {
    [$status, $events] = read("$api/Events?after=$after&limit=100");
    if ($status === 410) {
        $after = $begin(); // this program was away for more than 30 days
        continue;
    }
    if ($events === []) {
        break;
    }
    foreach ($events as $event) {
        if (isset($keepers[$event['EventName']])) {
            $keepers[$event['EventName']]($event['Record']);
        }
        $after = $event['Sequence'];
    }
    // Only now: after a kill before this line the same events come again.
    store($folder, 'after.json', $after);
}
