/** The images playground: images from words, and edits of images with a painted mask. */
import { useQuery } from '@tanstack/react-query'
import { modelQueries } from '../../api/queries/models.ts'
import { paths } from '../../app/paths.ts'
import { usePayingProject } from '../../app/paying-project.ts'
import { useMay } from '../../app/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import { Workbench } from './workbench.tsx'
import { isImageModel } from './settings.ts'
import { images as place } from './place.ts'

export function ImagesPage() {
  const search = place.useSearch()
  const models = useQuery(modelQueries.all(search.project))
  const { names, project, setProject, error } = usePayingProject(search.project)
  const may = useMay()
  const text = words.images
  const imageModels = models.data?.data.filter(isImageModel)
  const problem = models.error ?? error
  if (names !== undefined && names.length > 0 && imageModels !== undefined && imageModels.length > 0)
    return (
      <Workbench
        search={search}
        models={imageModels}
        projects={names}
        project={project}
        onProject={setProject}
      />
    )
  return (
    <Page title={words.places.images} beside={<span className="text-12 text-ink-3">{text.place}</span>}>
      {!may('playground.run') ? (
        <Empty title={text.mayNot} />
      ) : problem !== null ? (
        <Problem error={problem} retry={() => void models.refetch()} />
      ) : imageModels?.length === 0 ? (
        <Empty
          title={text.noModel}
          actions={<ButtonLink to={paths.models()}>{words.models.connectUpstream}</ButtonLink>}
        >
          {text.noModelNext}
        </Empty>
      ) : (
        names !== undefined && <Empty title={text.noProject} />
      )}
    </Page>
  )
}
