// strong-soap's HTTP client loads http-signature, but calls it only for requests with the option `httpSignature`. npm 11.6 cannot
// install its dependency sshpk from a lock file without a registry's addresses, which would fail every `npm ci`.
exports.signRequest = () => {
  throw new Error('http-signature is not installed, because npm 11.6 cannot install its dependency sshpk: see stubs/')
}
