<?php
/**
 * `$signature`: the header X-Service-Signature.
 * `$body`: the unchanged text. `$secret`: the whole whsec_... string.
 */
function open_webhook(string $signature, string $body, string $secret, string $private_key): string
{
    $is_mine = false;
    // During a rotation there are two, separated by a space.
    foreach (explode(" ", $signature) as $one) {
        if (!preg_match('/^t=(\d+),v1=([0-9a-f]{64})$/D', $one, $match) || abs(time() - (int) $match[1]) > 300) {
            throw new RuntimeException("too old, or no signature");
        }
        $is_mine = hash_equals(hash_hmac("sha256", "{$match[1]}.{$body}", $secret), $match[2]) || $is_mine;
    }
    if (!$is_mine) {
        throw new RuntimeException("wrong signature");
    }
    $decode = fn (string $part): string => base64_decode(strtr($part, "-_", "+/"));
    [$header, $wrapped_key, $nonce, $text, $tag] = explode(".", $body);
    $protected = json_decode($decode($header), true);
    if ($protected["alg"] !== "RSA-OAEP-256" || $protected["enc"] !== "A256GCM") {
        throw new RuntimeException("not the expected encryption");
    }
    if (!openssl_private_decrypt($decode($wrapped_key), $padded, $private_key, OPENSSL_NO_PADDING)) {
        throw new RuntimeException("the key does not fit");
    }
    $key = remove_oaep($padded);
    $opened = openssl_decrypt($decode($text), "aes-256-gcm", $key, OPENSSL_RAW_DATA, $decode($nonce), $decode($tag), $header);
    if ($opened === false) {
        throw new RuntimeException("the text was changed");
    }
    return $opened;
}

/**
 * OAEP with SHA-256 (RFC 8017, 7.1.2), which openssl_private_decrypt supports since PHP 8.5.
 * It runs after the signature was verified.
 */
function remove_oaep(string $padded): string
{
    $mask = function (string $seed, int $length): string {
        for ($made = "", $count = 0; strlen($made) < $length; $count++) {
            $made .= hash("sha256", $seed . pack("N", $count), true);
        }
        return substr($made, 0, $length);
    };
    [$masked_seed, $masked] = [substr($padded, 1, 32), substr($padded, 33)];
    $data = $masked ^ $mask($masked_seed ^ $mask($masked, 32), strlen($masked));
    $at = 32 + strspn($data, "\0", 32);
    if ($padded[0] !== "\0" || !hash_equals(hash("sha256", "", true), substr($data, 0, 32)) || ($data[$at] ?? "") !== "\1") {
        throw new RuntimeException("the key does not fit");
    }
    return substr($data, $at + 1);
}
