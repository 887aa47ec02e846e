import { afterAll } from 'vitest'

/** What all tests of a file share, opened where the file begins and closed after the last test. */
export async function shared<Opened extends { close: () => unknown }>(opening: Promise<Opened>): Promise<Opened> {
  const opened = await opening
  afterAll(() => opened.close())
  return opened
}
