import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function OverviewPage() {
  return (
    <Page title={words.overview.title}>
      <LoadingRows />
    </Page>
  )
}
