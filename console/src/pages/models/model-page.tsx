import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function ModelPage() {
  return (
    <Page title={words.models.title}>
      <LoadingRows />
    </Page>
  )
}
