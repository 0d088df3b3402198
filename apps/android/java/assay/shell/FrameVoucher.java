package assay.shell;

import android.security.keystore.KeyGenParameterSpec;
import android.security.keystore.KeyProperties;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Lets the phone's secure hardware vouch for the frames of one face check. It makes a key for the service's
 * nonce, returns its certificates (Android key attestation), and signs. The key has no other use and is
 * deleted with the shell. If the phone cannot do it, the page sends its frames without.
 */
final class FrameVoucher {
    interface Listener {
        /** On any thread. */
        void onVoucherMessage(String message);
    }

    private static final String STORE = "AndroidKeyStore";
    private static final String ALIAS = "frames";

    private final Listener listener;
    /** Secure hardware is slow, and tasks run in order: a key must exist before it signs. */
    private final ExecutorService work = Executors.newSingleThreadExecutor();

    FrameVoucher(Listener listener) {
        this.listener = listener;
    }

    void handle(final ShellMessage message) {
        work.execute(new Runnable() {
            @Override
            public void run() {
                listener.onVoucherMessage(answerTo(message));
            }
        });
    }

    private String answerTo(ShellMessage message) {
        try {
            return message.kind == ShellMessage.Kind.MAKE_KEY
                    ? ShellMessage.certificates(message.number, makeKey(message.command))
                    : ShellMessage.answer(message.number, sign(message.command));
        } catch (GeneralSecurityException | IOException | ProviderException | IllegalArgumentException error) {
            return ShellMessage.refused(message.number);
        }
    }

    /** In the trusted execution environment: a StrongBox takes longer than the person's movements. */
    private static byte[][] makeKey(byte[] nonce) throws GeneralSecurityException, IOException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(KeyProperties.KEY_ALGORITHM_EC, STORE);
        generator.initialize(new KeyGenParameterSpec.Builder(ALIAS, KeyProperties.PURPOSE_SIGN)
                .setAlgorithmParameterSpec(new ECGenParameterSpec("secp256r1"))
                .setDigests(KeyProperties.DIGEST_SHA256)
                .setAttestationChallenge(nonce)
                .build());
        generator.generateKeyPair();
        Certificate[] chain = store().getCertificateChain(ALIAS);
        if (chain == null) throw new GeneralSecurityException("The key has no certificates");
        byte[][] encoded = new byte[chain.length][];
        for (int index = 0; index < chain.length; index++) encoded[index] = chain[index].getEncoded();
        return encoded;
    }

    private static byte[] sign(byte[] message) throws GeneralSecurityException, IOException {
        PrivateKey key = (PrivateKey) store().getKey(ALIAS, null);
        if (key == null) throw new GeneralSecurityException("No key was made");
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(key);
        signature.update(message);
        return signature.sign();
    }

    private static KeyStore store() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(STORE);
        store.load(null);
        return store;
    }

    void close() {
        work.execute(new Runnable() {
            @Override
            public void run() {
                try {
                    store().deleteEntry(ALIAS);
                } catch (GeneralSecurityException | IOException error) {
                    // Then there is no key store, and no key in it.
                }
            }
        });
        work.shutdown();
    }
}
