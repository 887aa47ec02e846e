import { expect, test } from 'vitest'
import { acceptedFormat } from '../../../../src/http/rest/format.ts'

test.each([
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['Application/XML; charset=utf-8', 'xml'],
  ['application/json, application/xml', 'json'],
  ['application/xml, application/json', 'json'],
  ['application/json;q=0.5, application/xml;q=0.9', 'xml'],
  ['application/json;q=0.9, application/xml;q=0.5', 'json'],
  ['application/xml, */*', 'xml'],
  ['*/*, text/xml', 'xml'],
  ['application/xml;q=0.5, */*;q=0.5', 'xml'],
  ['application/xml;q=0.5, */*', 'json'],
  ['application/xml;q=0, */*', 'json'],
  ['text/xml, application/*', 'xml'],
  ['text/*, */*', 'json'],
  ['application/json, text/plain, */*', 'json'],
  ['application/json, application/xml, */*', 'json'],
  ['application/json;q=0.5, application/xml;q=0.5, */*', 'json'],
  ['*/*, application/json;q=0.5, application/xml', 'xml'],
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'json'],
  ['application/xml, */*;q=0.1', 'xml'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'xml'],
  ['text/html, image/png', 'json'],
  ['application/xml;q=0', 'json'],
  ['application/json;q=0, text/*', 'xml'],
  ['application/json;q=0, */*, application/xml;q=0.2', 'xml'],
  ['application/xml;q=nonsense, application/json;q=0.1', 'json'],
  ['application/soap+xml', 'json'],
])('Accept %s is answered in %s', (accept, format) => {
  expect(acceptedFormat(accept)).toBe(format)
})
