<?php
/**
 * Sends the errors of a PHP application (7.4 and later) to Errata. One file, no
 * dependencies: copy it, and call this as early as possible:
 *
 *     require 'errata.php';
 *     Errata::start(getenv('ERRORS_DSN'), ['release' => '1.4.2', 'root' => __DIR__]);
 *     Errata::capture($exception, ['order' => 42]); // for exceptions that the application catches
 *
 * Errors, uncaught exceptions and fatal errors are sent automatically. Earlier handlers are still called, and
 * PHP prints and logs as before. Events are sent at the end of the request, with short timeouts. Nothing here
 * throws. Every event has its id from the start, so that a repeat counts once.
 */
final class Errata
{
    private const MAX_QUEUE = 50;                    // waiting events; newer ones are dropped
    private const FLUSH_AT = 20, FLUSH_SECONDS = 5;  // this many events, or the oldest of that age: for long-running processes
    private const PAUSE_SECONDS = 30;                // after a failure
    private const CONNECT_MS = 500, TIMEOUT_MS = 1500, MAX_CHAIN = 10, MAX_FRAMES = 50;
    private const FATAL = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR;
    private const NAMES = [E_ERROR => 'E_ERROR', E_PARSE => 'E_PARSE', E_CORE_ERROR => 'E_CORE_ERROR', E_COMPILE_ERROR => 'E_COMPILE_ERROR', E_WARNING => 'E_WARNING',
        E_USER_WARNING => 'E_USER_WARNING', E_NOTICE => 'E_NOTICE', E_USER_NOTICE => 'E_USER_NOTICE', E_USER_ERROR => 'E_USER_ERROR', E_RECOVERABLE_ERROR => 'E_RECOVERABLE_ERROR'];

    private static string $url = '', $key = '', $reserve = ''; // the reserve is memory for the report that memory ran out
    private static array $options = [], $queue = [];
    private static float $oldest = 0, $pausedUntil = 0;
    private static bool $busy = false, $uncaught = false;
    public static int $dropped = 0;

    /** Options: release, environment, root (removed from file names), report (mask of PHP errors), handlers (false: none). */
    public static function start(string $dsn, array $options = []): bool
    {
        if (self::$url !== '' || !preg_match('~^(https?)://(\w+)@([^/]+)((?:/[^/]+)*)/(\d+)/?$~', $dsn, $m)) return false;
        [self::$url, self::$key] = ["$m[1]://$m[3]$m[4]/api/$m[5]/envelope/", $m[2]];
        self::$options = $options + ['report' => E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED, 'handlers' => true, 'root' => ''];
        register_shutdown_function([self::class, 'end']);
        if (!self::$options['handlers']) return true;
        self::$reserve = str_repeat('x', 256 << 10);
        $errors = set_error_handler(static function (int $severity, string $message, string $file = '', int $line = 0) use (&$errors) {
            if (error_reporting() & $severity & self::$options['report']) { // not silenced by @
                $level = [E_WARNING => 'warning', E_USER_WARNING => 'warning', E_USER_ERROR => 'error', E_RECOVERABLE_ERROR => 'error'][$severity] ?? 'notice';
                self::capture(new ErrorException($message, 0, $severity, $file, $line), [], $level);
            }
            return $errors ? $errors(...func_get_args()) : false;
        });
        $exceptions = set_exception_handler(static function (Throwable $e) use (&$exceptions): void {
            self::$uncaught = true;
            self::capture($e, [], 'fatal', false);
            if (!$exceptions) {
                restore_exception_handler();
                throw $e; // so that PHP prints and logs it as usual
            }
            $exceptions($e);
        });
        return true;
    }

    /** Called when PHP shuts down: reports a fatal error and sends the waiting events. */
    public static function end(): void
    {
        [self::$reserve, self::$pausedUntil] = ['', 0]; // one more try, because nothing comes after
        $last = error_get_last();
        if ($last && ($last['type'] & self::FATAL) && !self::$uncaught && self::$options['handlers']) {
            self::capture(new ErrorException($last['message'], 0, $last['type'], $last['file'], $last['line']), [], 'fatal', false);
        }
        self::flush();
    }

    /** Sends the waiting events; true when no event waits any more. Events that cannot be sent are kept for the next time. */
    public static function flush(): bool
    {
        if (!self::$queue || self::$busy || microtime(true) < self::$pausedUntil) return !self::$queue;
        self::$busy = true;
        try {
            $status = self::post("{}\n" . implode('', self::$queue));
        } catch (Throwable $e) { // an error handler of the application that throws
            $status = 0;
        }
        if ($status >= 200 && $status < 500 && $status !== 429) { // any other 4xx would come again
            self::$dropped += $status < 300 ? 0 : count(self::$queue);
            self::$queue = [];
        } else {
            self::$pausedUntil = microtime(true) + self::PAUSE_SECONDS;
        }
        self::$busy = false;
        return !self::$queue;
    }

    /** Takes an exception with its previous ones; returns the event's id, null when it is dropped. */
    public static function capture(Throwable $e, array $tags = [], string $level = 'error', bool $handled = true): ?string
    {
        try {
            if (self::$url === '' || self::$busy || count(self::$queue) >= self::MAX_QUEUE) {
                throw new LengthException('dropped');
            }
            $event = ['event_id' => bin2hex(random_bytes(16)), 'timestamp' => round(microtime(true), 6), 'platform' => 'php', 'level' => $level,
                'sdk' => ['name' => 'errata-php', 'version' => '1'], 'contexts' => ['runtime' => ['name' => 'php', 'version' => PHP_VERSION]],
                'server_name' => gethostname() ?: '', 'exception' => ['values' => self::chain($e, $handled)]];
            $event += array_intersect_key(self::$options, ['release' => 1, 'environment' => 1]);
            foreach ($tags as $name => $value)
                $event['tags'][$name] = is_scalar($value) ? (string) $value : json_encode($value, JSON_PARTIAL_OUTPUT_ON_ERROR);
            if (isset($_SERVER['REQUEST_METHOD'])) {
                $event['request'] = ['method' => $_SERVER['REQUEST_METHOD'], 'url' => $_SERVER['REQUEST_URI'] ?? ''];
                $event['user'] = ['ip_address' => $_SERVER['REMOTE_ADDR'] ?? ''];
            }
            $json = json_encode($event, JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES);
            self::$oldest = self::$queue ? self::$oldest : microtime(true);
            self::$queue[] = '{"type":"event","length":' . strlen($json) . "}\n$json\n";
            if (count(self::$queue) >= self::FLUSH_AT || microtime(true) - self::$oldest > self::FLUSH_SECONDS) self::flush();
            return $event['event_id'];
        } catch (Throwable $broken) {
            self::$dropped++;
            return null;
        }
    }

    /** The exception and its previous ones, oldest first, with frames but never with arguments. */
    private static function chain(?Throwable $e, bool $handled): array
    {
        $root = rtrim(self::$options['root'], '/') . '/';
        for ($chain = []; $e && count($chain) < self::MAX_CHAIN; $e = $e->getPrevious()) {
            $calls = array_merge([['file' => $e->getFile(), 'line' => $e->getLine()]], $e->getTrace());
            for ($frames = [], $i = 0; $i < count($calls) && count($frames) < self::MAX_FRAMES; $i++) {
                [$file, $in] = [$calls[$i]['file'] ?? __FILE__, $calls[$i + 1] ?? []];
                if ($file !== __FILE__) {
                    $frames[] = ['filename' => $root !== '/' && strpos($file, $root) === 0 ? substr($file, strlen($root)) : $file, 'lineno' => $calls[$i]['line'] ?? 0,
                        'function' => ($in['class'] ?? '') . ($in['type'] ?? '') . ($in['function'] ?? '{main}'), 'in_app' => !preg_match('~[/\\\\]vendor[/\\\\]~', $file)];
                }
            }
            $class = $e instanceof ErrorException ? self::NAMES[$e->getSeverity()] ?? 'ErrorException' : get_class($e);
            array_unshift($chain, ['type' => $class, 'value' => $e->getMessage(), 'stacktrace' => ['frames' => array_reverse($frames)]]);
        }
        $chain[count($chain) - 1]['mechanism'] = ['type' => 'php', 'handled' => $handled];
        return $chain;
    }

    /** The status of the answer, 0 when there was none. */
    private static function post(string $body): int
    {
        $headers = ['Content-Type: application/x-sentry-envelope', 'X-Sentry-Auth: Sentry sentry_version=7, sentry_client=errata-php/1, sentry_key=' . self::$key];
        if (function_exists('curl_init')) {
            curl_setopt_array($curl = curl_init(self::$url), [CURLOPT_POSTFIELDS => $body, CURLOPT_HTTPHEADER => $headers, CURLOPT_RETURNTRANSFER => true,
                CURLOPT_CONNECTTIMEOUT_MS => self::CONNECT_MS, CURLOPT_TIMEOUT_MS => self::TIMEOUT_MS, CURLOPT_NOSIGNAL => true]);
            return curl_exec($curl) === false ? 0 : (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        }
        $stream = @fopen(self::$url, 'r', false, stream_context_create(['http' => ['method' => 'POST', 'content' => $body, 'header' => implode("\r\n", $headers),
            'timeout' => self::TIMEOUT_MS / 1000, 'ignore_errors' => true, 'follow_location' => 0]]));
        return $stream ? (int) substr(strstr(stream_get_meta_data($stream)['wrapper_data'][0], ' '), 1, 3) : 0;
    }
}
