package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// openWebhook takes the header X-Service-Signature, the body as it came, and the whole whsec_... string.
func openWebhook(signature, body, secret string, privateKey []byte) (string, error) {
	isMine := false
	// During a rotation there are two, separated by a space.
	for _, one := range strings.Split(signature, " ") {
		seconds, given, _ := strings.Cut(strings.TrimPrefix(one, "t="), ",v1=")
		sent, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil || math.Abs(float64(time.Now().Unix()-sent)) > 300 {
			return "", errors.New("too old, or no signature")
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(seconds + "." + body))
		claimed, err := hex.DecodeString(given)
		isMine = isMine || (err == nil && hmac.Equal(claimed, mac.Sum(nil)))
	}
	if !isMine {
		return "", errors.New("wrong signature")
	}

	parts := strings.Split(body, ".")
	if len(parts) != 5 {
		return "", errors.New("not a compact JWE")
	}
	bytes := make([][]byte, 5)
	for i, part := range parts {
		decoded, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			return "", err
		}
		bytes[i] = decoded
	}
	var header struct{ Alg, Enc string }
	if err := json.Unmarshal(bytes[0], &header); err != nil || header.Alg != "RSA-OAEP-256" || header.Enc != "A256GCM" {
		return "", errors.New("not the expected encryption")
	}
	block, _ := pem.Decode(privateKey)
	if block == nil {
		return "", errors.New("not a PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", err
	}
	key, err := rsa.DecryptOAEP(sha256.New(), nil, parsed.(*rsa.PrivateKey), bytes[1], nil)
	if err != nil {
		return "", err
	}
	cipherBlock, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	gcm, err := cipher.NewGCM(cipherBlock)
	if err != nil {
		return "", err
	}
	plain, err := gcm.Open(nil, bytes[2], append(bytes[3], bytes[4]...), []byte(parts[0]))
	return string(plain), err
}
