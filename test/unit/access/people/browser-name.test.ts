import { expect, test } from 'vitest'
import { browserName } from '../../../../src/access/people/browser-name.ts'
import { english, languageOf } from '../../../../src/foundation/texts/language.ts'

test.each([
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    'Safari on an iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/139.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['curl/8.5.0', 'curl'],
  ['OrderSync/2.1', 'OrderSync/2.1'],
  ['', 'It does not say what it is'],
])('%s is %s', (userAgent, name) => {
  expect(english(browserName(userAgent))).toBe(name)
})

test('in German', () => {
  const { say } = languageOf('de-DE')
  expect(say(browserName('(iPad) CriOS/143.0'))).toBe('Chrome auf einem iPad')
  expect(say(browserName('(Windows) Firefox/146.0'))).toBe('Firefox unter Windows')
})
