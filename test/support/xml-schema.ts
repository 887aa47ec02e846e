import { memoryPages, validateXML } from 'xmllint-wasm'

/** What an XML Schema says against each document, in their order; empty: valid. Throws for a schema that is not valid itself. */
export async function schemaFaults(schema: string, documents: readonly string[]): Promise<string[][]> {
  const faults: string[][] = documents.map(() => [])
  let start = 0
  for (const batch of batchesOf(documents)) {
    const { errors } = await validateXML({
      xml: batch.map((contents, index) => ({ fileName: `document-${index}`, contents })),
      schema: [{ fileName: 'schema.xsd', contents: schema }],
      initialMemoryPages: 64 * memoryPages.MiB,
      maxMemoryPages: memoryPages.GiB,
    })
    let current: string[] = []
    for (const { rawMessage } of errors) {
      const [, index, text] = /^document-(\d+)(?::\d+: | )(.*)/.exec(rawMessage) ?? []
      current = index === undefined ? current : (faults[start + Number(index)] as string[])
      // A message may show a text of several lines, and one about syntax shows where it stands.
      current.push((text ?? rawMessage).replace('Schemas validity error : ', ''))
    }
    start += batch.length
  }
  return faults
}

/** A run takes 70 ms to start, and all its documents lie in its memory, their names on its small stack. */
const BATCH_LENGTH_MAX = 20_000_000
const BATCH_DOCUMENTS_MAX = 1_000

function batchesOf(documents: readonly string[]): string[][] {
  const batches: string[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const document of documents) {
    length += document.length
    if (length > BATCH_LENGTH_MAX || batches.at(-1)?.length === BATCH_DOCUMENTS_MAX) {
      batches.push([])
      length = document.length
    }
    batches.at(-1)?.push(document)
  }
  return batches
}
