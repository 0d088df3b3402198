package assay.shell;

import android.content.Intent;
import android.net.Uri;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/**
 * A phone that another process plays with: phone.ts, which has the page in a browser and the chip. Lines in:
 * `open LINK`, `agree`, `loaded ADDRESS`, `say MESSAGE`, `lay`, `lay COMMANDS` (then it slips), `take-away`,
 * `carries BYTES`, `end-process`, `quit`. Lines out: `asks BASE64`, `script BASE64 ADDRESS`, `told MESSAGE`,
 * `done`.
 */
@RunWith(RobolectricTestRunner.class)
@Config(shadows = {FieldIsoDep.class, PhoneWebView.class, PhoneNfcAdapter.class})
public class WholeFlow {
    private final Phone phone = new Phone();
    private PrintStream out;
    private int told;

    @Test
    public void thePhoneIsPlayedWith() throws IOException, InterruptedException {
        PhoneKeyStore.install();
        Phone.hasNfc(true);
        org.robolectric.Shadows.shadowOf(android.nfc.NfcAdapter.getDefaultAdapter(
                        org.robolectric.RuntimeEnvironment.getApplication()))
                .setEnabled(true);
        FieldIsoDep.reset();
        Socket control = new Socket(InetAddress.getLoopbackAddress(), Integer.getInteger("assay.control.port"));
        control.setTcpNoDelay(true);
        out = new PrintStream(control.getOutputStream(), true, "UTF-8");
        final BufferedReader in =
                new BufferedReader(new InputStreamReader(control.getInputStream(), StandardCharsets.UTF_8));
        final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread listener = new Thread(new Runnable() {
            @Override
            public void run() {
                try {
                    for (String line = in.readLine(); line != null; line = in.readLine()) lines.add(line);
                } catch (IOException error) {
                    // The other end is gone.
                }
                lines.add("quit");
            }
        });
        listener.setDaemon(true);
        listener.start();
        for (String line = ""; !line.equals("quit"); ) {
            line = lines.poll(2, TimeUnit.MILLISECONDS);
            if (line == null) line = "";
            else play(line);
            if (phone.activity != null) phone.idle();
            for (; told < phone.heard.size(); told++) out.println("told " + phone.heard.get(told));
        }
    }

    private void play(String line) throws IOException {
        String[] parts = line.split(" ", 2);
        switch (parts[0]) {
            case "open":
                if (phone.activity == null) phone.start(parts[1]);
                else phone.controller.newIntent(new Intent(Intent.ACTION_VIEW, Uri.parse(parts[1])));
                phone.takeAway();
                if (BuildConfig.ASKS) tellQuestion();
                else tellScript();
                break;
            case "agree":
                phone.button("Agree").performClick();
                tellScript();
                break;
            case "loaded":
                phone.webShadow().offered = null;
                phone.load(parts[1]);
                out.println("done");
                break;
            case "say":
                // A message of a page that ended with its process is dropped.
                if (phone.hasPort()) phone.say(parts[1]);
                break;
            case "lay":
                FieldIsoDep.Document document = new VirtualDocument(Integer.getInteger("assay.chip.port"));
                phone.lay(parts.length == 1 ? document : new Slipping(document, Integer.parseInt(parts[1])));
                out.println("done");
                break;
            case "take-away":
                phone.takeAway();
                out.println("done");
                break;
            case "carries":
                FieldIsoDep.maxTransceiveLength = Integer.parseInt(parts[1]);
                FieldIsoDep.extendedLength = FieldIsoDep.maxTransceiveLength > 261;
                out.println("done");
                break;
            case "end-process":
                told = 0;
                phone.endProcessAndReturn();
                tellScript();
                break;
            default:
        }
    }

    /** The question that the person reads before anything is opened. */
    private void tellQuestion() {
        phone.until("no question", new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return phone.texts().contains("Agree");
            }
        });
        out.println("asks " + Base64.getEncoder().encodeToString(phone.texts().getBytes(StandardCharsets.UTF_8)));
    }

    /** The web view's task: the script before the page's, and the address to load. */
    private void tellScript() {
        byte[] script = phone.webShadow().script.getBytes(StandardCharsets.UTF_8);
        out.println("script " + Base64.getEncoder().encodeToString(script) + " " + phone.webShadow().getLastLoadedUrl());
    }

    /** Leaves the field after this many commands. */
    private static final class Slipping implements FieldIsoDep.Document {
        private final FieldIsoDep.Document document;
        private int commandsLeft;

        Slipping(FieldIsoDep.Document document, int commandsLeft) {
            this.document = document;
            this.commandsLeft = commandsLeft;
        }

        @Override
        public byte[] transceive(byte[] command) throws IOException {
            if (commandsLeft-- <= 0) FieldIsoDep.inField = null;
            return document.transceive(command);
        }

        @Override
        public void powerUp() throws IOException {
            document.powerUp();
        }
    }
}
