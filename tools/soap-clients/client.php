<?php

// A PHP program with SoapClient: php client.php PLAN.json. By the WSDL the result is read from `…Result->any`; without one,
// as scripts of that time call, from the objects that SoapClient makes of the answer.

$plan = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR);
$byWsdl = $plan['way'] === 'wsdl';

function client(?string $wsdl): SoapClient
{
    global $plan;
    return new SoapClient($wsdl, [
        'soap_version' => $plan['version'] === '1.1' ? SOAP_1_1 : SOAP_1_2,
        'cache_wsdl' => WSDL_CACHE_NONE,
        ...($wsdl === null ? ['location' => $plan['address'], 'uri' => $plan['namespace']] : []),
    ]);
}

function send(SoapClient $client, string $operation, array $parameters): mixed
{
    global $byWsdl;
    if ($byWsdl) {
        return $client->$operation($parameters);
    }
    // As scripts put values into text: false is empty.
    $named = fn ($value, $name) => new SoapParam($value === null ? null : (string) $value, $name);
    return $client->__soapCall($operation, array_map($named, $parameters, array_keys($parameters)));
}

/** The result's root by its name, as an object with a member for each child's name. */
function resultOf(mixed $answer, string $operation): object
{
    global $byWsdl;
    return $byWsdl ? parsed($answer->{$operation . 'Result'}->any) : $answer;
}

/** PHP may be without its XML extensions; a result has elements and text alone. */
function parsed(string $xml): object
{
    preg_match_all('~<(/?)(\w+)[^>]*?(/?)>|[^<]+~', $xml, $tokens, PREG_SET_ORDER);
    if (implode('', array_column($tokens, 0)) !== $xml) {
        throw new Exception("The result is not XML: $xml");
    }
    return contentOf(new ArrayIterator($tokens), '');
}

/** What stands before the end of an element: a text, or an object. */
function contentOf(Iterator $tokens, string $parent): mixed
{
    $text = '';
    $children = [];
    for (; $tokens->valid(); $tokens->next()) {
        [$token, $slashBefore, $name, $slashAfter] = $tokens->current() + ['', '', '', ''];
        if ($name === '') {
            $text .= html_entity_decode($token, ENT_QUOTES | ENT_XML1, 'UTF-8');
        } elseif ($slashAfter !== '') {
            $children[$name][] = '';
        } elseif ($slashBefore === '') {
            $tokens->next();
            $children[$name][] = contentOf($tokens, $name);
        } elseif ($name === $parent) {
            break;
        } else {
            throw new Exception("$token ends $parent");
        }
    }
    return $children === [] ? $text : (object) array_map(fn ($all) => count($all) === 1 ? $all[0] : $all, $children);
}

/** What stands several times is a list; what is empty, a text without characters. */
function textsIn(mixed $value, array $path): array
{
    if (is_array($value)) {
        return array_merge(...array_map(fn ($one) => textsIn($one, $path), $value));
    }
    if ($path === []) {
        return [(string) $value];
    }
    $name = array_shift($path);
    return isset($value->$name) ? textsIn($value->$name, $path) : [];
}

/** What differs from what is expected; empty: nothing. */
function fault(array $call, object $result): string
{
    [$root] = array_keys(get_object_vars($result));
    $textsAt = fn ($path) => textsIn($result->$root, explode('/', $path));
    if ($root !== $call['root']) {
        return "the root is $root, not {$call['root']}: " . shown($textsAt('Id'));
    }
    foreach ($call['texts'] as $path => $texts) {
        if ($textsAt($path) !== $texts) {
            return "$path is " . shown($textsAt($path)) . ', not ' . shown($texts);
        }
    }
    foreach ($call['patterns'] as $path => $pattern) {
        if (!preg_match("~$pattern~", $textsAt($path)[0] ?? '')) {
            return "$path is " . shown($textsAt($path)) . ", which does not fit $pattern";
        }
    }
    return '';
}

function shown(mixed $value): string
{
    return json_encode($value, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
}

$done = 0;
$failed = 0;

function report(string $what, string $fault): void
{
    global $done, $failed;
    $done += 1;
    $failed += $fault === '' ? 0 : 1;
    echo $fault === '' ? "ok $what\n" : "FAILED $what: $fault\n";
}

$client = client($byWsdl ? $plan['wsdl'] : null);
foreach ($plan['calls'] as $call) {
    $operation = $call['operation'];
    try {
        $fault = fault($call, resultOf(send($client, $operation, $call['parameters']), $operation));
    } catch (Throwable $error) {
        $fault = get_class($error) . ' ' . $error->getMessage();
    }
    report("$operation, {$call['name']}", $fault);
}

['operation' => $operation, 'parameters' => $parameters, 'code' => $code, 'text' => $text] = $plan['fault'];
try {
    send(client($byWsdl ? $plan['newerWsdl'] : null), $operation, $parameters);
    $fault = 'there is no fault';
} catch (SoapFault $error) {
    $isExpected = $error->faultcode === "soap:$code" && str_contains($error->faultstring, $text);
    $fault = $isExpected ? '' : "the fault is $error->faultcode $error->faultstring";
}
report("$operation, a fault", $fault);

echo $done - $failed, " of $done as expected\n";
exit($failed === 0 ? 0 : 1);
