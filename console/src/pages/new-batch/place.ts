import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../app/place.ts'
import { flag, oneOf, searchOf, size, text } from '../../app/search.ts'

/** The address holds every choice. The file is the browser's: after a reload it has to be chosen again. */
export const newBatch = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches/new',
  validateSearch: searchOf({
    text: text(),
    id: text(),
    /** Rows are named by their number. */
    numbered: flag(),
    rows: oneOf('skip', 'truncate', 'stop'),
    model: text(),
    dimensions: size(),
    key: text(),
    hours: oneOf('1', '6', '24', '168'),
    output: oneOf('jsonl', 'parquet', 'npy'),
  }),
  component: lazyRouteComponent(() => import('./new-batch-page.tsx'), 'NewBatchPage'),
})
