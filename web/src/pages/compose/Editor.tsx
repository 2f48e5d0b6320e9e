import {
  Alert,
  Badge,
  Box,
  Button,
  Checkbox,
  Chip,
  ColorSwatch,
  Grid,
  Group,
  Skeleton,
  Stack,
  Switch,
  Tabs,
  Text,
  Title,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { memo, useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, api, type Post, type Schemas, unwrap } from '../../api/client'
import { LabelChips, LabelMenu } from '../../components/Labels'
import { AccountName, NetworkGlyph } from '../../components/network'
import { LinkButton } from '../../components/links'
import { Page } from '../../components/Page'
import { errorText } from '../../lib/notify'
import { postQuery } from '../../lib/queries'
import { useMe } from '../../lib/session'
import { MediaTooDialog, type AddedMedia, Shared } from './Versions'
import {
  contentOf,
  copyOf,
  type Draft,
  draftOf,
  isBlank,
  newDraft,
  type Part,
  partsOf,
  withMediaToo,
  withParts,
} from './draft'
import { AccountOptions, OptionsPanel } from './options/OptionsPanel'
import { type Count, Parts } from './Parts'
import { Previews } from './Preview'
import { Schedule } from './Schedule'
import { WholePostContext } from './template'
import { TrackedLinks } from './TrackedLinks'
import { forgetDraft, unsavedDraft, type Saving, useSaving } from './useSaving'

interface Props {
  post?: Post
  at?: string
  /** Starts with a recurring post. */
  repeat?: boolean
  accounts: Account[]
  groups: Schemas['AccountGroup'][]
  /** The group whose slot the post begins at. */
  queue?: string
  created: (p: Post) => void
}

export function Editor({ post, at, repeat, accounts, groups, queue, created }: Props) {
  const { t } = useTranslation()
  const me = useMe()
  const ofQueue = groups.find((g) => g.id === queue)
  const [slot] = useState(() => (ofQueue && at ? { group: ofQueue.id, when: at } : undefined))
  // Of a thread that is being published, only the parts that follow can be changed.
  const begun = post?.status === 'publishing'
  const published = begun ? Math.max(...post.targets.map((x) => x.segments?.length ?? 0)) : 0
  const start = () =>
    post
      ? { ...draftOf(post), ...(begun ? { when: '' as const } : {}) }
      : newDraft(
          accounts
            .filter((a) => (ofQueue ? ofQueue.accounts.includes(a.id) : a.default) && a.status === 'connected')
            .map((a) => a.id),
          me.workspace.time_zone,
          at,
        )
  const [restored] = useState(() => unsavedDraft(post))
  const [isRestored, setRestored] = useState(restored !== undefined)
  const [draft, setDraft] = useState<Draft>(() => (restored ? { ...restored, ...(at ? { when: at } : {}) } : start()))
  const saving = useSaving(draft, post, created, restored !== undefined)
  const [tab, setTab] = useState('all')
  const [added, setAdded] = useState<AddedMedia>()
  const [seen] = useDebouncedValue(draft, 300)
  const preview = useQuery({
    queryKey: ['preview', seen],
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
    queryFn: ({ signal }) =>
      unwrap(
        api.POST('/api/v1/posts/preview', {
          signal,
          body: { ...contentOf(seen), ...(seen.when ? { scheduled_time: seen.when } : {}) },
        }),
      ),
  })
  const current = tab !== 'all' && draft.accounts.includes(tab) ? tab : 'all'
  const chosen = useMemo(() => accounts.filter((a) => draft.accounts.includes(a.id)), [accounts, draft.accounts])
  // Typing does not rerender the schedule. Its values are never outdated: a stale one
  // in a field would undo what was just entered.
  const blank = isBlank(draft)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is not part of the schedule
  const scheduled = useMemo(
    () => draft,
    [draft.when, draft.zone, draft.dropIfLate, draft.language, draft.accounts, blank],
  )
  const counts = useMemo(
    () =>
      countsOf(preview.data, current === 'all' ? draft.accounts.filter((id) => !draft.versions[id]) : [current], seen),
    [preview.data, current, draft.accounts, draft.versions, seen],
  )
  const changeParts = useCallback(
    (update: (p: Part[]) => Part[]) =>
      setDraft((d) => (current === 'all' ? { ...d, parts: update(d.parts) } : withParts(d, current, update))),
    [current],
  )
  const { current: read } = saving
  const whole = useMemo(
    () => ({ read, change: setDraft, ready: accounts.filter((a) => a.status === 'connected').map((a) => a.id) }),
    [read, accounts],
  )
  const choose = useCallback((ids: string[]) => setDraft((d) => ({ ...d, accounts: ids })), [])
  const askToo = useCallback((part: number, files: string[]) => setAdded({ part, files }), [])
  const problems = preview.data?.problems ?? none
  const { versions } = draft
  const tabs = useMemo(
    () => (
      <Tabs.List mb="sm">
        <Tabs.Tab value="all">{t('compose.allNetworks')}</Tabs.Tab>
        {chosen.map((a) => (
          <Tabs.Tab
            key={a.id}
            value={a.id}
            leftSection={<NetworkGlyph network={a.network} size={18} named />}
            rightSection={
              versions[a.id] ? (
                <Badge size="xs" variant="light" tt="none">
                  {t('compose.customized')}
                </Badge>
              ) : undefined
            }
          >
            {a.label || a.handle}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    ),
    [chosen, versions, t],
  )
  const toggle = (id: string, different: boolean) =>
    setDraft((d) => {
      const { [id]: _, ...others } = d.versions
      return { ...d, versions: different ? { ...others, [id]: copyOf(d) } : others }
    })

  return (
    <WholePostContext value={begun ? undefined : whole}>
      <Page
        title={t(post ? 'compose.editTitle' : 'compose.title')}
        actions={
          <LinkButton variant="default" to="/calendar" search={{ view: 'list', show: 'drafts' }}>
            {t('compose.drafts')}
          </LinkButton>
        }
        lead={
          <SavingSign
            state={saving.state}
            draft={(saving.stored?.status ?? 'draft') === 'draft'}
            error={saving.error}
          />
        }
      >
        {isRestored && (
          <Alert color="blue" p="xs" mb="md" role="status" data-restored>
            <Group justify="space-between" gap="xs">
              <Text size="sm">{t('compose.restored')}</Text>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  const fresh = start()
                  saving.reset(fresh)
                  setDraft(fresh)
                  forgetDraft(post)
                  setRestored(false)
                }}
              >
                {t('compose.dropRestored')}
              </Button>
            </Group>
          </Alert>
        )}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 7 }}>
            <Stack gap="md">
              {!begun && <Targets accounts={accounts} groups={groups} value={draft.accounts} onChange={choose} />}
              <Tabs value={current} onChange={(v) => setTab(v ?? 'all')} keepMounted={false}>
                {tabs}
                <Tabs.Panel value="all">
                  <Parts
                    label={t('compose.text')}
                    value={draft.parts}
                    change={changeParts}
                    counts={counts}
                    accounts={chosen}
                    added={askToo}
                    published={published}
                  />
                  <Box mt="sm" hidden={begun}>
                    <Options options={draft.options} setDraft={setDraft} accounts={chosen} problems={problems} />
                  </Box>
                </Tabs.Panel>
                {chosen.map((a) => (
                  <Tabs.Panel key={a.id} value={a.id}>
                    <Stack gap="sm">
                      <Switch
                        label={t('compose.different', { handle: a.handle })}
                        checked={a.id in draft.versions}
                        onChange={(e) => toggle(a.id, e.currentTarget.checked)}
                      />
                      {draft.versions[a.id] ? (
                        <>
                          <Shared draft={draft} id={a.id} setDraft={setDraft} />
                          <Parts
                            label={t('compose.textFor', { handle: a.handle })}
                            value={partsOf(draft, a.id)}
                            change={changeParts}
                            counts={counts}
                            accounts={[a]}
                            published={published}
                          />
                          {!begun && (
                            <AccountOptions draft={draft} setDraft={setDraft} account={a} problems={problems} />
                          )}
                        </>
                      ) : (
                        <Text c="dimmed" size="sm">
                          {t('compose.sameText')}
                        </Text>
                      )}
                    </Stack>
                  </Tabs.Panel>
                ))}
              </Tabs>
              {!begun && (
                <Checkbox
                  label={t('compose.trackLinks')}
                  description={t('compose.trackLinksText')}
                  checked={draft.trackLinks}
                  onChange={(e) => {
                    const trackLinks = e.currentTarget.checked
                    setDraft((d) => ({ ...d, trackLinks }))
                  }}
                />
              )}
              {draft.trackLinks && !begun && (
                <TrackedLinks draft={draft} setDraft={setDraft} accounts={chosen} post={saving.stored?.id} />
              )}
              {saving.stored && <PostLabels id={saving.stored.id} />}
              <Schedule
                draft={scheduled}
                setDraft={setDraft}
                saving={saving}
                preview={preview.data}
                repeat={repeat}
                slot={slot}
                begun={begun}
              />
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Stack gap="sm" component="section" aria-label={t('compose.preview')} className="dl-sticky" p={2}>
              <Title order={2} size="h4">
                {t('compose.preview')}
              </Title>
              {preview.error && <Alert color="red">{errorText(preview.error)}</Alert>}
              {blank && <Text c="dimmed">{t('compose.previewEmpty')}</Text>}
              {!blank && preview.isPending && <Skeleton height={220} radius="md" />}
              {!blank && preview.data && (
                <Previews
                  targets={preview.data.targets}
                  accounts={accounts}
                  draft={seen}
                  focus={current === 'all' ? undefined : current}
                />
              )}
            </Stack>
          </Grid.Col>
        </Grid>
        <MediaTooDialog
          draft={draft}
          accounts={accounts}
          added={added}
          close={() => setAdded(undefined)}
          add={(ids, { part, files }) => setDraft((d) => withMediaToo(d, ids, part, files))}
        />
      </Page>
    </WholePostContext>
  )
}

/** The labels of the post, which are stored apart from its text. */
const PostLabels = memo(function PostLabels({ id }: { id: string }) {
  const post = useQuery(postQuery(id)).data
  if (!post) return null
  return (
    <Group gap="xs">
      <LabelMenu posts={[post]} size="xs" />
      <LabelChips ids={post.labels} />
    </Group>
  )
})

const none: Schemas['FieldProblem'][] = []
const Options = memo(OptionsPanel)

/** Counts of each segment, one for each of the accounts. */
function countsOf(preview: Schemas['PostPreview'] | undefined, ids: string[], draft: Draft): Count[][] {
  const targets = (preview?.targets ?? []).filter((target) => ids.includes(target.account_id))
  const longest = Math.max(0, ...targets.map((target) => target.segments.length))
  return Array.from({ length: longest }, (_, i) =>
    targets.flatMap(({ network, handle, account_id, segments }) => {
      const s = segments[i]
      const letters = [...(partsOf(draft, account_id)[i]?.content ?? '')].length
      return s ? [{ network, handle, used: s.characters, allowed: s.characters_allowed, letters }] : []
    }),
  )
}

function SavingSign({ state, draft, error }: { state: Saving; draft: boolean; error: unknown }) {
  const { t } = useTranslation()
  if (state === 'failed')
    return (
      <Text size="sm" c="red" role="alert" span>
        {t('compose.saveFailed')} {errorText(error)}
      </Text>
    )
  return (
    <Text size="sm" c="dimmed" role="status" data-saving={state} span>
      {draft ? t(`compose.saving.${state}`) : t('compose.notAutomatic')}
    </Text>
  )
}

const Targets = memo(function Targets({
  accounts,
  groups,
  value,
  onChange,
}: {
  accounts: Account[]
  groups: Schemas['AccountGroup'][]
  value: string[]
  onChange: (ids: string[]) => void
}) {
  const { t } = useTranslation()
  const ready = accounts.filter((a) => a.status === 'connected').map((a) => a.id)
  const same = (ids: string[]) => ids.length > 0 && ids.length === value.length && ids.every((id) => value.includes(id))
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would change the layout
    <div role="group" aria-label={t('compose.accounts')}>
      <Group gap={6} mb={6}>
        <Text size="sm" fw={600} mr="auto">
          {t('compose.accounts')}
        </Text>
        {groups.map((g) => {
          const ids = g.accounts.filter((id) => ready.includes(id))
          return (
            <Button
              key={g.id}
              size="compact-sm"
              variant={same(ids) ? 'light' : 'subtle'}
              color={g.color}
              aria-pressed={same(ids)}
              onClick={() => onChange(ids)}
              leftSection={
                <ColorSwatch color={`var(--mantine-color-${g.color}-6)`} size={10} withShadow={false} aria-hidden />
              }
            >
              <Text span inherit truncate>
                {g.name}
              </Text>
            </Button>
          )
        })}
        {ready.length > 1 && (
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onChange(same(ready) ? [] : ready)}>
            {t(same(ready) ? 'compose.selectNone' : 'compose.selectAll')}
          </Button>
        )}
      </Group>
      <Chip.Group multiple value={value} onChange={onChange}>
        <Group gap={6}>
          {accounts
            .filter((a) => a.status !== 'disconnected' || value.includes(a.id))
            .map((a) => (
              <Chip key={a.id} value={a.id} variant="outline" radius="md">
                <Group gap={6} wrap="nowrap" component="span">
                  <AccountName network={a.network} handle={a.handle} label={a.label} />
                </Group>
              </Chip>
            ))}
        </Group>
      </Chip.Group>
      {value.length === 0 && (
        <Text size="sm" c="var(--mantine-color-error)" mt={4}>
          {t('compose.chooseAccount')}
        </Text>
      )}
    </div>
  )
})
