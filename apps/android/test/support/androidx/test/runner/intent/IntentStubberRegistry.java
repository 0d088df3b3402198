package androidx.test.runner.intent;

public final class IntentStubberRegistry {
    private IntentStubberRegistry() {}

    public static IntentStubber getInstance() {
        return null;
    }

    public static boolean isLoaded() {
        return false;
    }
}
