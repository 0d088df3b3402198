package assay.shell;

import android.nfc.Tag;
import android.nfc.TagLostException;
import android.nfc.tech.IsoDep;
import java.io.IOException;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowBasicTagTechnology;

/** The phone's radio, with whatever document the test lays down. */
@Implements(IsoDep.class)
public class FieldIsoDep extends ShadowBasicTagTechnology {
    /** A document. Called on the radio's thread. */
    interface Document {
        byte[] transceive(byte[] command) throws IOException;

        /** It gets power: whatever it knew is gone. */
        void powerUp() throws IOException;
    }

    static volatile Document inField;
    static volatile int maxTransceiveLength = 261;
    static volatile boolean extendedLength;
    static volatile int connections;
    static volatile int timeout;
    private boolean connected;

    static void reset() {
        inField = null;
        maxTransceiveLength = 261;
        extendedLength = false;
        connections = 0;
        timeout = 0;
    }

    @Implementation
    protected static IsoDep get(Tag tag) {
        return Shadow.newInstanceOf(IsoDep.class);
    }

    @Implementation
    protected void __constructor__(Tag tag) {}

    @Implementation
    @Override
    protected boolean isConnected() {
        return connected;
    }

    @Implementation
    @Override
    protected void connect() {
        Document document = inField;
        if (document == null) throw new IllegalStateException("Nothing in the field");
        if (connected) throw new IllegalStateException("Connected already");
        try {
            document.powerUp();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        connected = true;
        connections++;
    }

    @Implementation
    @Override
    protected void close() {
        connected = false;
    }

    @Implementation
    protected byte[] transceive(byte[] command) throws IOException {
        Document document = inField;
        if (!connected || document == null) throw new TagLostException("Tag was lost");
        if (command.length > maxTransceiveLength) throw new IOException("Transceive length exceeds supported maximum");
        byte[] answer = document.transceive(command);
        // Removed or released while it was working.
        if (!connected || inField != document) throw new TagLostException("Tag was lost");
        return answer;
    }

    @Implementation
    protected void setTimeout(int milliseconds) {
        timeout = milliseconds;
    }

    @Implementation
    protected int getMaxTransceiveLength() {
        return maxTransceiveLength;
    }

    @Implementation
    protected boolean isExtendedLengthApduSupported() {
        return extendedLength;
    }
}
