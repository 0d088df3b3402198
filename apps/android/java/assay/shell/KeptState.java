package assay.shell;

import android.content.Context;
import android.security.keystore.KeyGenParameterSpec;
import android.security.keystore.KeyProperties;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * State that the page needs after Android has ended the process: the tokens of one session, which a web view
 * only keeps in memory. One file holds them for at most an hour, sealed with a key that cannot leave the key
 * store. File and key are deleted with the session. Without a working key store nothing is written, and the
 * page starts over.
 */
final class KeptState {
    /**
     * The lifetime of a session. Shorter: slow people lose their state.
     * Longer: useless tokens stay on the phone.
     */
    static final long LIFETIME_MILLISECONDS = 60 * 60 * 1000;
    /** The page keeps a few tokens of some dozen characters. */
    static final int MAX_CHARACTERS = 8192;

    private static final String STORE = "AndroidKeyStore";
    private static final String ALIAS = "kept";
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int TAG_BITS = 128;
    private static final int NONCE_BYTES = 12;

    private final File file;
    /** The origin and path of the session that it belongs to; null when there is nothing. */
    private String place;
    private long sinceMilliseconds;
    private String entries;

    KeptState(Context context, long nowMilliseconds) {
        file = new File(context.getNoBackupFilesDir(), "kept");
        load(nowMilliseconds);
    }

    /** The page's stored entries for this session; null if there are none. */
    String entriesFor(String place) {
        return place != null && place.equals(this.place) ? entries : null;
    }

    void keep(String place, String entries, long nowMilliseconds) {
        if (entries.isEmpty() || entries.length() > MAX_CHARACTERS) {
            forget();
            return;
        }
        if (!place.equals(this.place)) sinceMilliseconds = nowMilliseconds;
        this.place = place;
        this.entries = entries;
        try {
            JSONObject content = new JSONObject().put("place", place).put("since", sinceMilliseconds).put("entries", entries);
            write(seal(content.toString().getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException | IOException | JSONException | RuntimeException error) {
            // Continues in memory; an older state must not return instead.
            file.delete();
        }
    }

    void forget() {
        place = null;
        entries = null;
        file.delete();
        try {
            keyStore().deleteEntry(ALIAS);
        } catch (GeneralSecurityException | IOException | RuntimeException error) {
            // Without the file the key opens nothing.
        }
    }

    private void load(long nowMilliseconds) {
        if (!file.exists()) return;
        try {
            JSONObject content =
                    new JSONObject(new String(open(Files.readAllBytes(file.toPath())), StandardCharsets.UTF_8));
            // A clock that was set back makes a state of the future; it would never grow old.
            long age = nowMilliseconds - content.getLong("since");
            if (Math.abs(age) >= LIFETIME_MILLISECONDS) throw new IOException("Too old");
            place = content.getString("place");
            sinceMilliseconds = content.getLong("since");
            entries = content.getString("entries");
        } catch (GeneralSecurityException | IOException | JSONException | RuntimeException error) {
            forget();
        }
    }

    private void write(byte[] sealed) throws IOException {
        File next = new File(file.getPath() + ".next");
        try (FileOutputStream output = new FileOutputStream(next)) {
            output.write(sealed);
        }
        if (!next.renameTo(file)) throw new IOException("Could not be put in its place");
    }

    private static byte[] seal(byte[] content) throws GeneralSecurityException, IOException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(Cipher.ENCRYPT_MODE, key(true));
        byte[] nonce = cipher.getIV();
        byte[] sealed = cipher.doFinal(content);
        byte[] both = Arrays.copyOf(nonce, nonce.length + sealed.length);
        System.arraycopy(sealed, 0, both, nonce.length, sealed.length);
        return both;
    }

    private static byte[] open(byte[] both) throws GeneralSecurityException, IOException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(Cipher.DECRYPT_MODE, key(false), new GCMParameterSpec(TAG_BITS, both, 0, NONCE_BYTES));
        return cipher.doFinal(both, NONCE_BYTES, both.length - NONCE_BYTES);
    }

    private static KeyStore keyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(STORE);
        store.load(null);
        return store;
    }

    private static SecretKey key(boolean make) throws GeneralSecurityException, IOException {
        SecretKey known = (SecretKey) keyStore().getKey(ALIAS, null);
        if (known != null) return known;
        if (!make) throw new GeneralSecurityException("The key is gone");
        KeyGenerator generator = KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, STORE);
        generator.init(new KeyGenParameterSpec.Builder(
                        ALIAS, KeyProperties.PURPOSE_ENCRYPT | KeyProperties.PURPOSE_DECRYPT)
                .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
                .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
                .setKeySize(256)
                .build());
        return generator.generateKey();
    }
}
