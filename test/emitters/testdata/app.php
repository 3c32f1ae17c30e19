<?php
// An application that makes the mistakes that its arguments name.
class OrderError extends RuntimeException {}

function load(int $number): void
{
    try {
        throw new PDOException('SQLSTATE[HY000] no tea'); // HERE cause
    } catch (PDOException $e) {
        throw new OrderError("order $number failed", 7, $e); // HERE order
    }
}

if (in_array('before', $argv, true)) {
    set_error_handler(function (int $severity, string $message) { echo "[their error handler: $message]\n"; return true; });
    set_exception_handler(function (Throwable $e) { echo "[their exception handler: {$e->getMessage()}]\n"; });
}
require getenv('EMITTER');
if (!Errata::start(getenv('DSN'), ['release' => '1.4.2', 'root' => __DIR__])) {
    echo "[the DSN is not taken]\n";
}
foreach (array_slice($argv, 1) as $what) {
    switch ($what) {
        case 'capture':
            try {
                load(42);
            } catch (OrderError $e) {
                echo '[', Errata::capture($e, ['order' => 42, 'cart' => ['tea' => 2]]), "]\n";
            }
            break;
        case 'many':
            for ($i = 0; $i < 25; $i++) {
                Errata::capture(new DomainException("parcel $i is lost"));
            }
            break;
        case 'warning':
            $shelf = [];
            $shelf['tea']; // HERE warning
            @file_get_contents(__DIR__ . '/silenced');
            break;
        case 'broken':
            Errata::capture(new LengthException("invalid \xff text"), ['nan' => NAN, 'bytes' => "\xff", 'handle' => [STDIN]]);
            break;
        case 'uncaught':
            load(50);
            break;
        case 'memory':
            ini_set('memory_limit', '16M');
            for ($all = [];;) {
                $all[] = str_repeat('x', 1 << 12);
            }
            break;
    }
}
echo "[the end]\n";
