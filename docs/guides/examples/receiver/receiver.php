<?php
// SECRET=whsec_… php -S 127.0.0.1:8300 receiver.php
$body = file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$key = base64_decode(substr(getenv('SECRET'), strlen('whsec_')));
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
$signatures = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
$isSigned = array_filter($signatures, fn ($each) => hash_equals($expected, $each)) !== [];
if (!$isSigned || abs(time() - (int) $timestamp) > 300) {
    http_response_code(401);
    exit;
}
// In earnest: a table with the ids of the last days. Only the first request creates the file.
$seen = @fopen(sys_get_temp_dir() . '/seen-' . sha1($id), 'x');
if ($seen) {
    [$record] = json_decode($body, true);
    error_log("$_SERVER[HTTP_WEBHOOK_EVENT] $_SERVER[HTTP_WEBHOOK_SEQUENCE] $record[OrderID]");
}
http_response_code(204);
