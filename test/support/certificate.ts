import { execFileSync } from 'node:child_process'

const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost']

/** Makes a certificate for localhost that nobody trusts, and its key. */
export function makeCertificate(certificateFile: string, keyFile: string): void {
  execFileSync('openssl', ['req', ...kind, '-keyout', keyFile, '-out', certificateFile], { stdio: 'ignore' })
}
