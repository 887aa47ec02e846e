import { afterAll, onTestFinished } from 'vitest'

const endings = ['close', 'end', 'drop', '$disconnect'] as const
/** What ends in one of these ways. */
type Ending = { [Name in (typeof endings)[number]]: Readonly<Record<Name, () => unknown>> }[(typeof endings)[number]]

/** What all tests of a file share, opened where the file begins and closed after the last test. */
export async function shared<Opened extends Ending>(opening: Opened | Promise<Opened>): Promise<Opened> {
  return endedBy(afterAll, await opening)
}

/** What one test has to itself, closed when it has finished. */
export async function ofTest<Opened extends Ending>(opening: Opened | Promise<Opened>): Promise<Opened> {
  return endedBy(onTestFinished, await opening)
}

function endedBy<Opened extends Ending>(hook: (end: () => Promise<void>) => void, opened: Opened): Opened {
  const name = endings.find((each) => each in opened) as 'close'
  hook(async () => void (await (opened as Record<'close', () => unknown>)[name]()))
  return opened
}
