<?php

namespace App\Http\Controllers;

use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Log;
use RuntimeException;
use Throwable;

require_once __DIR__ . '/open_webhook.php';

// In routes/api.php, or elsewhere without the CSRF middleware:
// Route::post('/webhooks/assay', AssayWebhookController::class);
class AssayWebhookController
{
    public function __invoke(Request $request): Response
    {
        try {
            $text = $this->open($request->header('X-Service-Signature', ''), $request->getContent());
        } catch (RuntimeException $error) {
            Log::warning($error->getMessage());
            return response($error->getMessage(), 400);
        }
        // The queue is a table. Its migration creates id (string, primary key) and event (nullable text).
        DB::table('assay_events')->insertOrIgnore(['id' => json_decode($text)->id, 'event' => $text]);
        // Runs after the response. Also schedule it for failed events: once a minute, without overlapping.
        app()->terminating(fn () => self::handleWaiting());
        return response()->noContent();
    }

    /** Tries each secret: during a rotation there are two, separated by a space. */
    private function open(string $signature, string $body): string
    {
        $refused = new RuntimeException('ASSAY_WEBHOOK_SECRETS is empty');
        foreach (explode(' ', config('services.assay.webhook_secrets')) as $secret) {
            try {
                return \open_webhook($signature, $body, $secret, config('services.assay.private_key'));
            } catch (RuntimeException $error) {
                $refused = $error;
            }
        }
        throw $refused;
    }

    public static function handleWaiting(): void
    {
        foreach (DB::table('assay_events')->whereNotNull('event')->get() as $row) {
            try {
                self::handle(json_decode($row->event, true));
                // The id stays, so that an event that comes again is known. The claims go.
                DB::table('assay_events')->where('id', $row->id)->update(['event' => null]);
            } catch (Throwable $error) {
                Log::error("$row->id waits for the next time", ['exception' => $error]);
            }
        }
    }

    /** Your work. An event can be handled twice, if the server stops in the middle of it. */
    private static function handle(array $event): void
    {
        if ($event['type'] === 'verification.session.succeeded') {
            // $event['data']['claims'] has what the person shared.
        }
        Log::info("handled {$event['id']} {$event['type']} {$event['metadata']['client_reference_id']}");
    }
}
