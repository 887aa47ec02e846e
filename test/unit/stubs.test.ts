import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

test("strong-soap's http-signature is a stub, which says why there is no other", () => {
  const requireOfRequest = createRequire(createRequire(import.meta.url).resolve('@cypress/request'))
  expect(() => requireOfRequest('http-signature').signRequest()).toThrow(/not installed, because npm 11\.6/)
})
