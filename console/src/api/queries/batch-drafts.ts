/** Files that are to become a batch, and what running them would cost. */
import { keepPreviousData } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'

export type BatchDraft = Schema<'BatchDraft'>
export type BatchEstimate = Schema<'BatchEstimate'>
export type BatchOptions = Schema<'BatchDraftOptionsInput'>

/** Budgets and rates move. */
const CHANGING_MS = 30_000

/** Of a question that is not asked yet. */
const NO_OPTIONS: BatchOptions = {
  model: '',
  text_column: '',
  id_column: null,
  bad_rows: 'skip',
  dimensions: null,
  key: null,
  window_hours: 24,
  output: null,
}

export const draftQueries = {
  one: (id: string) =>
    api.queryOptions(
      'get',
      '/api/v1/batch-drafts/{id}',
      { params: { path: { id } } },
      { staleTime: Infinity },
    ),
  /** A question, although it is a POST: its options are too many for an address. */
  estimate: (id = '', options: BatchOptions = NO_OPTIONS) =>
    api.queryOptions(
      'post',
      '/api/v1/batch-drafts/{id}/estimate',
      { params: { path: { id } }, body: options },
      {
        placeholderData: keepPreviousData,
        refetchInterval: CHANGING_MS,
      },
    ),
}
