package assay.shell;

import java.io.InputStream;
import java.io.OutputStream;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.KeyStoreSpi;
import java.security.Provider;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Security;
import java.security.cert.Certificate;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Collections;
import java.util.Date;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import javax.crypto.KeyGenerator;
import javax.crypto.KeyGeneratorSpi;
import javax.crypto.SecretKey;

/** The phone's key store, which a JVM does not have: keys live in this process, under their alias. */
public final class PhoneKeyStore extends Provider {
    private static final long serialVersionUID = 1;
    static final Map<String, Key> KEYS = new HashMap<>();
    static final Map<String, Certificate[]> CHAINS = new HashMap<>();

    PhoneKeyStore() {
        super("AndroidKeyStore", 1.0, "For tests");
        put("KeyStore.AndroidKeyStore", Store.class.getName());
        put("KeyGenerator.AES", Generator.class.getName());
        put("KeyPairGenerator.EC", PairGenerator.class.getName());
    }

    static void install() {
        KEYS.clear();
        Security.removeProvider("AndroidKeyStore");
        Security.addProvider(new PhoneKeyStore());
    }

    static void remove() {
        KEYS.clear();
        Security.removeProvider("AndroidKeyStore");
    }

    /** A certificate as short as it can be: its encoding is what the hardware was asked to vouch for. */
    static final class Told extends Certificate {
        private static final long serialVersionUID = 1;
        private final byte[] encoded;
        private final PublicKey key;

        Told(byte[] encoded, PublicKey key) {
            super("X.509");
            this.encoded = encoded;
            this.key = key;
        }

        @Override
        public byte[] getEncoded() {
            return encoded.clone();
        }

        @Override
        public void verify(PublicKey by) {}

        @Override
        public void verify(PublicKey by, String provider) {}

        @Override
        public String toString() {
            return "told";
        }

        @Override
        public PublicKey getPublicKey() {
            return key;
        }
    }

    public static final class PairGenerator extends KeyPairGeneratorSpi {
        private android.security.keystore.KeyGenParameterSpec spec;

        @Override
        public void initialize(AlgorithmParameterSpec spec, SecureRandom random) {
            this.spec = (android.security.keystore.KeyGenParameterSpec) spec;
        }

        @Override
        public void initialize(int size, SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        public KeyPair generateKeyPair() {
            try {
                KeyPairGenerator plain = KeyPairGenerator.getInstance("EC", "SunEC");
                plain.initialize(spec.getAlgorithmParameterSpec());
                KeyPair pair = plain.generateKeyPair();
                KEYS.put(spec.getKeystoreAlias(), pair.getPrivate());
                CHAINS.put(spec.getKeystoreAlias(), new Certificate[] {
                    new Told(spec.getAttestationChallenge(), pair.getPublic()), new Told(new byte[] {1, 2}, null)
                });
                return pair;
            } catch (java.security.GeneralSecurityException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    public static final class Generator extends KeyGeneratorSpi {
        private String alias;

        @Override
        protected void engineInit(AlgorithmParameterSpec spec, SecureRandom random) {
            alias = ((android.security.keystore.KeyGenParameterSpec) spec).getKeystoreAlias();
        }

        @Override
        protected void engineInit(SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void engineInit(int size, SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SecretKey engineGenerateKey() {
            try {
                KeyGenerator plain = KeyGenerator.getInstance("AES", "SunJCE");
                plain.init(256);
                SecretKey key = plain.generateKey();
                KEYS.put(alias, key);
                return key;
            } catch (java.security.GeneralSecurityException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    public static final class Store extends KeyStoreSpi {
        @Override
        public Key engineGetKey(String alias, char[] password) {
            return KEYS.get(alias);
        }

        @Override
        public void engineDeleteEntry(String alias) {
            KEYS.remove(alias);
            CHAINS.remove(alias);
        }

        @Override
        public void engineLoad(InputStream stream, char[] password) {}

        @Override
        public Certificate[] engineGetCertificateChain(String alias) {
            return CHAINS.get(alias);
        }

        @Override
        public Certificate engineGetCertificate(String alias) {
            return null;
        }

        @Override
        public Date engineGetCreationDate(String alias) {
            return null;
        }

        @Override
        public void engineSetKeyEntry(String alias, Key key, char[] password, Certificate[] chain) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineSetKeyEntry(String alias, byte[] key, Certificate[] chain) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineSetCertificateEntry(String alias, Certificate certificate) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Enumeration<String> engineAliases() {
            return Collections.enumeration(KEYS.keySet());
        }

        @Override
        public boolean engineContainsAlias(String alias) {
            return KEYS.containsKey(alias);
        }

        @Override
        public int engineSize() {
            return KEYS.size();
        }

        @Override
        public boolean engineIsKeyEntry(String alias) {
            return KEYS.containsKey(alias);
        }

        @Override
        public boolean engineIsCertificateEntry(String alias) {
            return false;
        }

        @Override
        public String engineGetCertificateAlias(Certificate certificate) {
            return null;
        }

        @Override
        public void engineStore(OutputStream stream, char[] password) {}
    }
}
