import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;

public class OpenWebhook {
  /**
   * `signature`: the header X-Service-Signature.
   * `body`: the unchanged text. `secret`: the whole whsec_... string.
   */
  static String openWebhook(String signature, String body, String secret, String pem) throws Exception {
    boolean isMine = false;
    // During a rotation there are two, separated by a space.
    for (String one : signature.split(" ")) {
      if (!one.matches("t=\\d{1,12},v1=[0-9a-f]{64}")) throw new SecurityException("no signature");
      String[] halves = one.substring(2).split(",v1=");
      if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(halves[0])) > 300) throw new SecurityException("too old");
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
      byte[] expected = mac.doFinal((halves[0] + "." + body).getBytes(UTF_8));
      isMine |= MessageDigest.isEqual(expected, HexFormat.of().parseHex(halves[1]));
    }
    if (!isMine) throw new SecurityException("wrong signature");

    String[] parts = body.split("\\.");
    Base64.Decoder url = Base64.getUrlDecoder();
    String header = new String(url.decode(parts[0]), UTF_8);
    if (!header.contains("\"RSA-OAEP-256\"") || !header.contains("\"A256GCM\"")) throw new SecurityException("not the expected encryption");
    byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
    PrivateKey privateKey = KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der));
    Cipher rsa = Cipher.getInstance("RSA/ECB/OAEPPadding");
    rsa.init(Cipher.DECRYPT_MODE, privateKey, new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT));
    Cipher aes = Cipher.getInstance("AES/GCM/NoPadding");
    aes.init(Cipher.DECRYPT_MODE, new SecretKeySpec(rsa.doFinal(url.decode(parts[1])), "AES"), new GCMParameterSpec(128, url.decode(parts[2])));
    aes.updateAAD(parts[0].getBytes(US_ASCII));
    byte[] text = url.decode(parts[3]), tag = url.decode(parts[4]);
    return new String(aes.doFinal(ByteBuffer.allocate(text.length + tag.length).put(text).put(tag).array()), UTF_8);
  }
}
