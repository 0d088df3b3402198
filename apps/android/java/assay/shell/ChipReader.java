package assay.shell;

import android.app.Activity;
import android.nfc.NfcAdapter;
import android.nfc.Tag;
import android.nfc.tech.IsoDep;
import android.os.Bundle;
import android.os.Handler;
import android.os.HandlerThread;
import java.io.IOException;

/**
 * Passes one command at a time to the chip in the phone's field. It does not interpret or log what it
 * carries. All fields belong to the main thread; work that waits for the radio runs on a separate thread.
 */
final class ChipReader implements NfcAdapter.ReaderCallback {
    /** The answers of the reader, on the main thread. */
    interface Listener {
        void onMessage(String message);

        /** A command waits for a chip, or has found one: the page's reading has touched the document. */
        void onContact();

        /** A command was given while the reader is off or the phone has none. */
        void onUnavailable();
    }

    /**
     * Some chips need seconds for a key agreement; Android's default is less than a second. Shorter: slow
     * chips are lost. Longer: the page gives up (after 20 s) before the phone does.
     */
    private static final int ANSWER_TIMEOUT_MILLISECONDS = 10_000;
    /**
     * Android polls an idle chip, which disturbs some chips. The service may need this long between commands.
     */
    private static final int PRESENCE_CHECK_DELAY_MILLISECONDS = 5_000;
    private static final int FLAGS =
            NfcAdapter.FLAG_READER_NFC_A | NfcAdapter.FLAG_READER_NFC_B | NfcAdapter.FLAG_READER_SKIP_NDEF_CHECK;

    private final Activity activity;
    /** Null on a phone without a reader. */
    private final NfcAdapter adapter;
    private final Listener listener;
    private final Handler main;
    private final Handler radio;
    private boolean listening;
    private ShellMessage waiting;
    private IsoDep chip;

    ChipReader(Activity activity, NfcAdapter adapter, Listener listener) {
        this.activity = activity;
        this.adapter = adapter;
        this.listener = listener;
        main = new Handler(activity.getMainLooper());
        HandlerThread thread = new HandlerThread("chip");
        thread.start();
        radio = new Handler(thread.getLooper());
    }

    /** In the words of `chipTransport.readerState`. */
    String state() {
        return adapter == null ? "absent" : adapter.isEnabled() ? "ready" : "off";
    }

    /** While the shell is in front, no other app opens when a document touches the phone. */
    void resume() {
        listening = true;
        listen();
    }

    void pause() {
        listening = false;
        cancel();
        if (adapter != null) adapter.disableReaderMode(activity);
    }

    /** The person turned the reader on or off while the shell is in front. */
    void onReaderSwitched() {
        if (!state().equals("ready")) cancel();
        else if (listening) listen();
    }

    void close() {
        cancel();
        radio.getLooper().quitSafely();
    }

    void handle(ShellMessage message) {
        // The page sends one command at a time: a second one cancels the first.
        if (message.kind == ShellMessage.Kind.CANCEL || waiting != null) cancel();
        if (message.kind == ShellMessage.Kind.TRANSCEIVE) transceive(message);
        if (message.kind == ShellMessage.Kind.RESET) reset(message);
    }

    private void transceive(ShellMessage message) {
        if (!state().equals("ready")) {
            listener.onMessage(ShellMessage.unavailable(message.number));
            listener.onUnavailable();
            return;
        }
        waiting = message;
        if (chip != null) {
            exchange(chip, message);
        } else if (listening) {
            // A document that already lies on the phone is found again only after the reader restarts.
            adapter.disableReaderMode(activity);
            listen();
        }
    }

    private void listen() {
        if (adapter == null) return;
        Bundle options = new Bundle();
        options.putInt(NfcAdapter.EXTRA_READER_PRESENCE_CHECK_DELAY, PRESENCE_CHECK_DELAY_MILLISECONDS);
        adapter.enableReaderMode(activity, this, FLAGS, options);
    }

    /** Aborts the current command and releases the chip. False if there was no command. */
    boolean cancel() {
        ShellMessage given = waiting;
        waiting = null;
        if (chip != null) close(chip);
        chip = null;
        if (given == null) return false;
        listener.onMessage(ShellMessage.lost(given.number));
        return true;
    }

    @Override
    public void onTagDiscovered(Tag tag) {
        final IsoDep found = IsoDep.get(tag);
        if (found == null) return;
        radio.post(new Runnable() {
            @Override
            public void run() {
                try {
                    connect(found);
                    final String limits =
                            ShellMessage.limits(found.getMaxTransceiveLength(), found.isExtendedLengthApduSupported());
                    main.post(new Runnable() {
                        @Override
                        public void run() {
                            arrived(found, limits);
                        }
                    });
                } catch (IOException | RuntimeException error) {
                    // It was gone before it could be asked anything; the next contact is a new discovery.
                    close(found);
                }
            }
        });
    }

    private static void connect(IsoDep found) throws IOException {
        found.connect();
        found.setTimeout(ANSWER_TIMEOUT_MILLISECONDS);
    }

    private void arrived(IsoDep found, String limits) {
        // A chip that returns in the middle has forgotten the session.
        // The next command to the old one reports the loss.
        if (waiting == null || chip != null) {
            close(found);
            return;
        }
        chip = found;
        listener.onContact();
        listener.onMessage(limits);
        exchange(found, waiting);
    }

    private void exchange(final IsoDep with, final ShellMessage message) {
        radio.post(new Runnable() {
            @Override
            public void run() {
                byte[] received;
                try {
                    received = with.transceive(message.command);
                } catch (IOException | RuntimeException error) {
                    received = null;
                }
                end(message, received == null ? null : ShellMessage.answer(message.number, received));
            }
        });
    }

    /** Without a chip there is nothing to reset: the next command begins with a fresh chip. */
    private void reset(final ShellMessage message) {
        if (chip == null) {
            listener.onMessage(ShellMessage.done(message.number));
            return;
        }
        waiting = message;
        final IsoDep with = chip;
        radio.post(new Runnable() {
            @Override
            public void run() {
                String answer;
                try {
                    // Closing makes the phone activate the chip again,
                    // so that the chip forgets every session.
                    with.close();
                    connect(with);
                    answer = ShellMessage.done(message.number);
                } catch (IOException | RuntimeException error) {
                    answer = null;
                }
                end(message, answer);
            }
        });
    }

    /** Back from the radio. Null: the chip is gone. */
    private void end(final ShellMessage message, final String answer) {
        main.post(new Runnable() {
            @Override
            public void run() {
                if (waiting != message) return;
                if (answer == null) {
                    cancel();
                    return;
                }
                waiting = null;
                listener.onMessage(answer);
            }
        });
    }

    private static void close(IsoDep chip) {
        try {
            // Also ends a command that still waits for its answer on the other thread.
            chip.close();
        } catch (IOException | RuntimeException error) {
            // Gone is closed.
        }
    }
}
