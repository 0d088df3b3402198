require "json"
require "openssl"

# signature is the header X-Service-Signature, body the text as it came, secret the whole whsec_... string.
def open_webhook(signature, body, secret, private_key)
  # During a rotation there are two, separated by a space.
  is_mine = signature.split(" ", -1).any? do |one|
    time, given = /\At=(\d+),v1=([0-9a-f]{64})\z/.match(one)&.captures
    raise "too old, or no signature" if time.nil? || (Time.now.to_i - time.to_i).abs > 300
    expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{time}.#{body}")
    OpenSSL.fixed_length_secure_compare(expected, given)
  end
  raise "wrong signature" unless is_mine

  header, *rest = body.split(".")
  decode = ->(part) { part.tr("-_", "+/").unpack1("m") }
  wrapped_key, nonce, text, tag = rest.map(&decode)
  protected_header = JSON.parse(decode.(header))
  raise "not the expected encryption" if protected_header.values_at("alg", "enc") != ["RSA-OAEP-256", "A256GCM"]
  # A short tag would be easy to guess, and OpenSSL takes it.
  raise "not the expected encryption" if tag&.bytesize != 16
  key = OpenSSL::PKey.read(private_key).decrypt(
    wrapped_key,
    "rsa_padding_mode" => "oaep", "rsa_oaep_md" => "sha256", "rsa_mgf1_md" => "sha256"
  )
  cipher = OpenSSL::Cipher.new("aes-256-gcm").decrypt
  cipher.key = key
  cipher.iv = nonce
  cipher.auth_tag = tag
  cipher.auth_data = header
  (cipher.update(text) + cipher.final).force_encoding(Encoding::UTF_8)
end
