<?php
// A minimal Laravel application around the recipe: Debian has the framework without a project skeleton.
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel as KernelContract;
use Illuminate\Foundation\Bootstrap;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;

require 'Illuminate/autoload.php';
require __DIR__ . '/AssayWebhookController.php';

class Kernel extends Illuminate\Foundation\Http\Kernel
{
    protected $bootstrappers = [
        Bootstrap\HandleExceptions::class,
        Bootstrap\RegisterFacades::class,
        Bootstrap\RegisterProviders::class,
        Bootstrap\BootProviders::class,
    ];
}

$providers = [
    Illuminate\Database\DatabaseServiceProvider::class,
    Illuminate\Filesystem\FilesystemServiceProvider::class,
    Illuminate\View\ViewServiceProvider::class,
];
$log = [
    'driver' => 'monolog',
    'handler' => Monolog\Handler\StreamHandler::class,
    'with' => ['stream' => 'php://stdout'],
    'formatter' => Monolog\Formatter\LineFormatter::class,
    'formatter_with' => ['format' => "%message%\n"],
];
$app = new Illuminate\Foundation\Application(__DIR__);
$app->detectEnvironment(fn () => 'production');
$app->instance('config', new Illuminate\Config\Repository([
    'app' => ['providers' => $providers, 'aliases' => []],
    'database' => ['default' => 'file', 'connections' => ['file' => ['driver' => 'sqlite', 'database' => __DIR__ . '/events.sqlite', 'prefix' => '']]],
    'view' => ['paths' => [], 'compiled' => __DIR__],
    'logging' => ['default' => 'out', 'channels' => ['out' => $log]],
    'services' => ['assay' => ['webhook_secrets' => getenv('ASSAY_WEBHOOK_SECRETS'), 'private_key' => getenv('ASSAY_PRIVATE_KEY')]],
]));
$app->singleton(KernelContract::class, Kernel::class);
$app->singleton(ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$app->booted(function () {
    touch(__DIR__ . '/events.sqlite');
    DB::statement('create table if not exists assay_events (id varchar(100) primary key, event text)');
    Route::post('/webhooks/assay', App\Http\Controllers\AssayWebhookController::class);
});
$kernel = $app->make(KernelContract::class);
$response = $kernel->handle($request = Illuminate\Http\Request::capture())->send();
$kernel->terminate($request, $response);
