package assay.shell;

import android.app.Activity;
import android.nfc.NfcAdapter;
import android.os.Bundle;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowNfcAdapter;

/** Finds a document on the phone each time the reader starts, like phones. */
@Implements(NfcAdapter.class)
public class PhoneNfcAdapter extends ShadowNfcAdapter {
    static int flags;
    static int presenceCheckMilliseconds;
    static int starts;

    @Implementation
    @Override
    protected void enableReaderMode(Activity activity, NfcAdapter.ReaderCallback callback, int flags, Bundle extras) {
        super.enableReaderMode(activity, callback, flags, extras);
        PhoneNfcAdapter.flags = flags;
        presenceCheckMilliseconds = extras.getInt(NfcAdapter.EXTRA_READER_PRESENCE_CHECK_DELAY);
        starts++;
        if (FieldIsoDep.inField != null) dispatchTagDiscovered(null);
    }
}
