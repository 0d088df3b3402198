using System;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

public static class Webhook
{
    /// <summary>
    /// `signature`: the header X-Service-Signature.
    /// `body`: the unchanged text. `secret`: the whole whsec_... string.
    /// </summary>
    public static string Open(string signature, string body, string secret, string privateKeyPem)
    {
        var isMine = false;
        // During a rotation there are two, separated by a space.
        foreach (var one in signature.Split(' '))
        {
            var match = Regex.Match(one, @"\At=(\d{1,12}),v1=([0-9a-f]{64})\z");
            if (!match.Success || Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(match.Groups[1].Value)) > 300)
                throw new CryptographicException("too old, or no signature");
            var expected = HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), Encoding.UTF8.GetBytes($"{match.Groups[1].Value}.{body}"));
            isMine |= CryptographicOperations.FixedTimeEquals(expected, Convert.FromHexString(match.Groups[2].Value));
        }
        if (!isMine)
            throw new CryptographicException("wrong signature");

        var parts = body.Split('.');
        using var header = JsonDocument.Parse(Decode(parts[0]));
        if (header.RootElement.GetProperty("alg").GetString() != "RSA-OAEP-256" || header.RootElement.GetProperty("enc").GetString() != "A256GCM")
            throw new CryptographicException("not the expected encryption");
        using var rsa = RSA.Create();
        rsa.ImportFromPem(privateKeyPem);
        var key = rsa.Decrypt(Decode(parts[1]), RSAEncryptionPadding.OaepSHA256);
        byte[] text = Decode(parts[3]), tag = Decode(parts[4]), opened = new byte[text.Length];
        using var aes = new AesGcm(key, tag.Length);
        aes.Decrypt(Decode(parts[2]), text, tag, opened, Encoding.ASCII.GetBytes(parts[0]));
        return Encoding.UTF8.GetString(opened);
    }

    static byte[] Decode(string part) =>
        Convert.FromBase64String(part.Replace('-', '+').Replace('_', '/').PadRight((part.Length + 3) / 4 * 4, '='));
}
