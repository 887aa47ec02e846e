<?php
// OLD_API=https://… php compare-counts.php
$headers = ['SecureURL: ' . getenv('SECURE_URL'), 'PrivateKey: ' . getenv('PRIVATE_KEY'), 'Token: ' . getenv('TOKEN')];
$context = stream_context_create(['http' => ['header' => $headers]]);
$count = function (string $api, string $service) use ($context): int {
    $text = file_get_contents("$api/$service?countonly=1", false, $context);
    return $text === false ? exit(1) : json_decode($text, true)['TotalCount'];
};
$isEqual = true;
foreach (['Products', 'Orders', 'Customers', 'Category', 'Manufacturers', 'Distributors'] as $service) {
    [$there, $here] = [$count(getenv('OLD_API'), $service), $count(getenv('API'), $service)];
    echo "$service $there $here ", $there === $here ? 'equal' : 'DIFFERENT', "\n";
    $isEqual = $isEqual && $there === $here;
}
exit($isEqual ? 0 : 1);
