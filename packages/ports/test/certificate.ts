import tls from 'node:tls';

/** Self-signed, for `service.test` and 127.0.0.1, until 2126; created for these tests, and public. */
export const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBozCCAUqgAwIBAgIUcTOvGXSDx1csEoDTSNOLhkLUam8wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMc2VydmljZS50ZXN0MCAXDTI2MTEyMTE1MTU1M1oYDzIxMjYx
MDI4MTUxNTUzWjAXMRUwEwYDVQQDDAxzZXJ2aWNlLnRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASaGpaZGoVZvqUl5aHbJmyTKIdv4UXLo8TiPiJZjuEh3M/8
aFRjSbHNXXFvQYbnwSfThG7kT7TgCYzgf3ic2dZxo3IwcDAdBgNVHQ4EFgQUa7tY
+5KvR4lWPGp8+XZUsWb+m2gwHwYDVR0jBBgwFoAUa7tY+5KvR4lWPGp8+XZUsWb+
m2gwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHREEFjAUggxzZXJ2aWNlLnRlc3SHBH8A
AAEwCgYIKoZIzj0EAwIDRwAwRAIgY4si1/kWnYiVlfyjHrpAYk/qC3dHMXaaVTP1
YuQtcm4CICwNHI15aas5CyrWCuVmQlRy3pAmJ1sIkOKI6+ask1xi
-----END CERTIFICATE-----
`;

export const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLBvXuc04+ttG7yMT
Tkz21jsL3TQ6wveBNWAMoHy4LEOhRANCAASaGpaZGoVZvqUl5aHbJmyTKIdv4UXL
o8TiPiJZjuEh3M/8aFRjSbHNXXFvQYbnwSfThG7kT7TgCYzgf3ic2dZx
-----END PRIVATE KEY-----
`;

/** Makes this process trust {@link TEST_CERTIFICATE}, as NODE_EXTRA_CA_CERTS would. Returns a function that undoes it. */
export function trustTestCertificate(): () => void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, TEST_CERTIFICATE]);
  return () => tls.setDefaultCACertificates(before);
}
