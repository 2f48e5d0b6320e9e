import { Alert, Button, Checkbox, Code, Group, Stack, TagsInput, Text, TextInput, Title } from '@mantine/core'
import { IconKey, IconTrash, IconWorldWww } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { LinkButton } from '../../components/links'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAct } from '../../lib/act'
import { forget, useFormState } from '../../lib/formState'
import { useHash } from '../../lib/hash'
import { sitesQuery } from '../../lib/queries'
import { useAtLeast } from '../../lib/session'

type Site = Schemas['Site']
type Edited = Pick<Site, 'name' | 'domains' | 'public_counts'>

/** The sites of the workspace: names, domains, public counts, secret keys, removal. */
export function Sites() {
  const { t } = useTranslation()
  const sites = useQuery(sitesQuery)
  useHash(sites.isSuccess)
  if (sites.error) return <Failed error={sites.error} retry={() => void sites.refetch()} />
  if (!sites.data) return <WaitingRows height={160} />
  if (sites.data.length === 0)
    return (
      <Empty icon={IconWorldWww} title={t('readers.none')} text={t('readers.noneText')} guide="how-to/add-a-site">
        <LinkButton to="/readers">{t('readers.newSite')}</LinkButton>
      </Empty>
    )
  return (
    <Stack maw={720}>
      {sites.data.map((site) => (
        <SiteCard key={site.id} site={site} />
      ))}
    </Stack>
  )
}

const isSame = (a: Edited, b: Edited) =>
  a.name === b.name && a.public_counts === b.public_counts && a.domains.join() === b.domains.join()

/** The secret key is shown only once: it stays while the settings are saved. */
function SiteCard({ site }: { site: Site }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const owner = useAtLeast('owner')
  const [dialog, ask] = useConfirm()
  const path = { id: site.id }
  const rotate = useAct<void, Schemas['SiteWithSecret']>({
    send: () => unwrap(api.POST('/api/v1/sites/{id}/rotate-secret', { params: { path } })),
    done: () => t('settings.rotated'),
    failed: () => t('settings.notSaved'),
  })
  const remove = useAct<void, unknown>({
    send: () => unwrap(api.DELETE('/api/v1/sites/{id}', { params: { path } })),
    show: () => {
      const before = client.getQueryData(sitesQuery.queryKey)
      client.setQueryData(sitesQuery.queryKey, (all) => all?.filter((s) => s.id !== site.id))
      return () => client.setQueryData(sitesQuery.queryKey, before)
    },
    done: () => t('settings.siteDeleted', { name: site.name }),
    failed: () => t('settings.siteNotDeleted', { name: site.name }),
    settled: () => void client.invalidateQueries({ queryKey: sitesQuery.queryKey }),
  })
  const secret = rotate.data?.secret_key
  const stored: Edited = { name: site.name, domains: site.domains, public_counts: site.public_counts }
  return (
    <Stack
      gap="sm"
      className="dl-card"
      p="md"
      component="section"
      id={site.id}
      aria-label={site.name}
      data-site={site.name}
    >
      {dialog}
      <Title order={2} size="h5">
        {site.name}
      </Title>
      <Fields key={JSON.stringify(stored)} id={site.id} start={stored} may={may} />
      {secret && (
        <Alert color="yellow" title={t('readers.secret')} role="status">
          <Text size="sm" mb="xs">
            {t('readers.secretText')}
          </Text>
          <Code block>{secret}</Code>
        </Alert>
      )}
      {may && (
        <Group gap="xs">
          <Button
            variant="default"
            leftSection={<IconKey size={16} aria-hidden />}
            loading={rotate.isPending}
            onClick={() =>
              ask({
                title: t('settings.rotateTitle', { name: site.name }),
                text: t('settings.rotateText'),
                action: t('settings.rotate'),
                danger: true,
                run: () => rotate.mutate(),
              })
            }
          >
            {t('settings.rotate')}
          </Button>
          {owner && (
            <Button
              variant="subtle"
              color="red"
              ml="auto"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() =>
                ask({
                  title: t('settings.deleteTitle', { name: site.name }),
                  text: t('settings.deleteText'),
                  action: t('settings.delete'),
                  danger: true,
                  run: () => remove.mutate(),
                })
              }
            >
              {t('settings.delete')}
            </Button>
          )}
        </Group>
      )}
    </Stack>
  )
}

function Fields({ id, start, may }: { id: string; start: Edited; may: boolean }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `site ${id}`
  const [draft, setDraft] = useFormState<Edited>(form, 'draft', start)
  const set = (to: Partial<Edited>) => setDraft((was) => ({ ...was, ...to }))
  const save = useAct<Edited, Site>({
    send: async (body) => {
      const saved = await unwrap(api.PATCH('/api/v1/sites/{id}', { params: { path: { id } }, body }))
      client.setQueryData(sitesQuery.queryKey, (all) => all?.map((s) => (s.id === id ? saved : s)))
      forget(form)
      return saved
    },
    done: (saved) => t('settings.siteSaved', { name: saved.name }),
    failed: () => t('settings.notSaved'),
    settled: () => void client.invalidateQueries({ queryKey: sitesQuery.queryKey }),
  })
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        save.mutate({ ...draft, name: draft.name.trim() })
      }}
    >
      <Stack gap="sm" align="stretch">
        <TextInput
          label={t('readers.name')}
          required
          maxLength={200}
          readOnly={!may}
          value={draft.name}
          onChange={(e) => set({ name: e.currentTarget.value })}
        />
        <TagsInput
          label={t('readers.domains')}
          description={t('readers.domainsText')}
          placeholder="news.example"
          readOnly={!may}
          value={draft.domains}
          onChange={(domains) => set({ domains })}
        />
        <Checkbox
          label={t('readers.public')}
          disabled={!may}
          checked={draft.public_counts}
          onChange={(e) => set({ public_counts: e.currentTarget.checked })}
        />
        {may && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={draft.name.trim() === '' || isSame(draft, start)}>
              {t('save')}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
