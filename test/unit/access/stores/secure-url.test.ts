import { expect, test } from 'vitest'
import { normaliseHost, readSecureUrl } from '../../../../src/access/stores/secure-url.ts'

test.each([
  'https://www.shop.com',
  'https://shop.com/',
  'http://shop.com',
  'HTTPS://WWW.Shop.COM/',
  'shop.com',
  'www.shop.com',
  'shop.com.',
  'shop.com:443',
  'https://shop.com:8443/store/index.html?a=1#top',
  '//shop.com',
  ' https://shop.com ',
  'https://shop.com.:443/',
  'https://user:password@shop.com',
])('%j names the host shop.com', (text) => {
  expect(normaliseHost(text)).toBe('shop.com')
})

test.each([
  ['https://sub.shop.com', 'sub.shop.com'],
  ['https://shop.com.evil.example', 'shop.com.evil.example'],
  ['https://evil.example/shop.com', 'evil.example'],
  ['https://evil.example?https://shop.com', 'evil.example'],
  ['https://evil.example\\@shop.com', 'evil.example'],
  ['wwwshop.com', 'wwwshop.com'],
  ['https://münchen.example', 'xn--mnchen-3ya.example'],
  ['https://[::1]:3000/', '[::1]'],
  ['', ''],
  ['https://', ''],
  ['.', ''],
])('%j names the host %j', (text, host) => {
  expect(normaliseHost(text)).toBe(host)
})

test.each([
  ['https://shop.example', 'https://shop.example'],
  ['https://shop.example/', 'https://shop.example'],
  ['shop.example', 'https://shop.example'],
  ['shop.example:8443', 'https://shop.example:8443'],
  ['http://WWW.Shop.Example:80/store//', 'http://www.shop.example/store'],
  ['ftp://shop.example', null],
  ['javascript:alert(1)', null],
  ['https://user@shop.example', null],
  ['https://shop.example/?a=1', null],
  ['https://shop.example#top', null],
  ['https://', null],
  ['https://.', null],
  ['', null],
  ['two words', null],
  ['https://my shop.example', null],
  ['https://shop.example/my shop', null],
  ['https://shop.\texample', null],
  ['https://shop.example/a\nb', null],
  ['https://shop.example/\u00a0', 'https://shop.example'],
  ['https://shop.example/a\u00a0b', null],
  ['https://shop.example/a\u007fb', null],
  [' https://shop.example ', 'https://shop.example'],
])('%j is kept as the address %j', (text, address) => {
  expect(readSecureUrl(text)).toBe(address)
})
