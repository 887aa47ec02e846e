import type { Document } from '../../engine/merge.ts'

/** Answers name the order that they are of (rest-resources 3.7). */
export function nameOrderInQuestions(details: Document, orderId: number): void {
  for (const question of (details.QuestionList ?? []) as Document[]) question.OrderID = orderId
}
