package assay.shell;

import android.content.Context;
import android.os.VibrationEffect;
import android.os.Vibrator;

/** Haptic feedback, because the person does not see the screen while the phone lies on a document. */
final class Feel {
    private static final int CONTACT_MILLISECONDS = 40;
    private static final long[] READ = {0, 60, 90, 120};
    private static final long[] PROBLEM = {0, 300};

    private final Vibrator vibrator;

    Feel(Context context) {
        vibrator = (Vibrator) context.getSystemService(Context.VIBRATOR_SERVICE);
    }

    /** The chip answers: hold still now. */
    void contact() {
        play(VibrationEffect.createOneShot(CONTACT_MILLISECONDS, VibrationEffect.DEFAULT_AMPLITUDE));
    }

    /** Everything was read, or the reading did not work. */
    void outcome(boolean read) {
        play(VibrationEffect.createWaveform(read ? READ : PROBLEM, -1));
    }

    private void play(VibrationEffect effect) {
        if (vibrator != null && vibrator.hasVibrator()) vibrator.vibrate(effect);
    }
}
