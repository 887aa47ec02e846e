import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ResultItem } from '../result-item.ts'
import type { RecordType } from './body.ts'
import { acceptedFormat } from './format.ts'
import { countToXml, recordsToXml, resultsToXml } from './xml-write.ts'

/** What an operation has to say, in no format yet. */
export type Answer = RecordsAnswer | CountAnswer | ResultsAnswer | NothingAnswer

/** JSON texts of records of one type. */
export interface RecordsAnswer {
  readonly kind: 'records'
  readonly records: readonly string[]
  readonly type: RecordType
}

export interface CountAnswer {
  readonly kind: 'count'
  readonly count: number
}

/** Of changes, and of refusals. */
export interface ResultsAnswer {
  readonly kind: 'results'
  readonly status: number
  readonly items: readonly ResultItem[]
}

/** 404 with an empty body: no such record, or none in the list (rest-protocol 5.2). */
export interface NothingAnswer {
  readonly kind: 'nothing'
}

/** Answers in the format that the request accepts, byte for byte as rest-protocol 4, 5 and 7 say. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.kind === 'nothing') return reply.code(404).send()
  const format = acceptedFormat(request.headers.accept)
  return reply
    .code(answer.kind === 'results' ? answer.status : 200)
    .type(format === 'xml' ? 'application/xml; charset=utf-8' : 'application/json; charset=utf-8')
    .send(format === 'xml' ? toXml(answer) : toJson(answer))
}

function toJson(answer: RecordsAnswer | CountAnswer | ResultsAnswer): string | Buffer {
  if (answer.kind === 'records') return recordsToJson(answer.records)
  return JSON.stringify(answer.kind === 'count' ? { TotalCount: answer.count } : answer.items)
}

/** Encoded record by record: one text of a whole page, at a megabyte, would be copied three times on its way out. */
function recordsToJson(records: readonly string[]): Buffer {
  const pieces = records.map((record, index) => Buffer.from(`${index === 0 ? '[' : ','}${record}`))
  return Buffer.concat([...pieces, closing])
}

const closing = Buffer.from(']')

function toXml(answer: RecordsAnswer | CountAnswer | ResultsAnswer): string {
  if (answer.kind === 'records') return recordsToXml(answer.records, answer.type)
  return answer.kind === 'count' ? countToXml(answer.count) : resultsToXml(answer.items)
}

/** The headers that every recorded answer of the public service has (rest-protocol 3). */
export const commonHeaders = {
  'cache-control': 'no-cache',
  pragma: 'no-cache',
  expires: '-1',
  'access-control-allow-origin': '*',
}
