import {
  Alert,
  Anchor,
  Box,
  Button,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconMapPinOff, IconPhoto, IconSearch, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Media, mediaURL, unwrap } from '../../api/client'
import { NetworkIcon } from '../../components/network'
import { Page } from '../../components/Page'
import { Empty, Failed, WaitingCards } from '../../components/states'
import { Time } from '../../components/Time'
import { noteText, problemText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { type MediaChoice, mediaKinds, useMediaList } from '../../lib/media'
import { useAtLeast } from '../../lib/session'
import { MediaField } from '../compose/MediaField'
import { Thumb } from '../compose/Thumb'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** All files, searchable by name and description. */
export function MediaPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [kind, setKind] = useState<MediaChoice>('all')
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed.trim(), 250)
  const [open, setOpen] = useState<Media>()
  const may = useAtLeast('author')
  const list = useMediaList(kind, q)
  const files = list.data?.pages.flatMap((p) => p.media) ?? []
  return (
    <Page title={t('media.title')} lead={t('media.lead')}>
      <Stack>
        {may && (
          <MediaField
            label={t('compose.addMedia')}
            value={[]}
            add={() => void client.invalidateQueries({ queryKey: ['media-list'] })}
            remove={() => undefined}
            replace={() => undefined}
          />
        )}
        <Group gap="sm">
          <TextInput
            aria-label={t('media.search')}
            placeholder={t('media.search')}
            leftSection={<IconSearch size={16} aria-hidden />}
            value={typed}
            onChange={(e) => setTyped(e.currentTarget.value)}
            flex={1}
            miw={160}
            maw={360}
          />
          <SegmentedControl
            aria-label={t('media.kind')}
            value={kind}
            onChange={(v) => setKind(v as MediaChoice)}
            data={mediaKinds.map((value) => ({ value, label: t(`media.kinds.${value}`) }))}
          />
        </Group>
        {list.error ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : !list.data ? (
          <WaitingCards height={196} cards={12} cols={{ base: 2, xs: 3, md: 4, xl: 6 }} />
        ) : files.length === 0 ? (
          <Empty
            icon={IconPhoto}
            title={t(q || kind !== 'all' ? 'media.nothing' : 'media.none')}
            text={t(q || kind !== 'all' ? 'media.nothingText' : 'media.noneText')}
          />
        ) : (
          <SimpleGrid cols={{ base: 2, xs: 3, md: 4, xl: 6 }} spacing="sm">
            {files.map((m) => (
              <UnstyledButton
                key={m.id}
                className="dl-card"
                style={{ overflow: 'hidden' }}
                onClick={() => setOpen(m)}
                data-file={m.file_name}
              >
                <Box h={140}>
                  <Thumb media={m} />
                </Box>
                <Box p="xs">
                  <Text size="sm" truncate fw={500}>
                    {m.file_name}
                  </Text>
                  <Text
                    size="xs"
                    c={m.alt_text || m.kind === 'document' ? 'dimmed' : 'var(--mantine-color-error)'}
                    truncate
                  >
                    {m.kind === 'document'
                      ? t('media.pages', { count: m.pages ?? 0 })
                      : m.alt_text || t('media.altMissing')}
                  </Text>
                  {m.location_removed && (
                    <Group gap={4} wrap="nowrap" c="dimmed">
                      <IconMapPinOff size={14} aria-hidden />
                      <Text size="xs" truncate>
                        {t('media.locationRemoved')}
                      </Text>
                    </Group>
                  )}
                </Box>
              </UnstyledButton>
            ))}
          </SimpleGrid>
        )}
        {list.hasNextPage && (
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
            style={{ alignSelf: 'center' }}
          >
            {t('more')}
          </Button>
        )}
      </Stack>
      {open && <Details key={open.id} media={open} close={() => setOpen(undefined)} />}
    </Page>
  )
}

const verdicts = { as_is: 'green', converted: 'yellow', no: 'red', unknown: 'gray' } as const

function Details({ media: m, close }: { media: Media; close: () => void }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('author')
  const form = `file ${m.id}`
  const [alt, setAlt] = useFormState(form, 'alt', m.alt_text)
  const params = { path: { id: m.id } }
  const fitness = useQuery({
    queryKey: ['media', m.id, 'fitness'],
    queryFn: () => unwrap(api.GET('/api/v1/media/{id}/fitness', { params })),
  })
  const done = () => {
    forget(form)
    void client.invalidateQueries({ queryKey: ['media-list'] })
    close()
  }
  const save = useAct({
    send: () => unwrap(api.PATCH('/api/v1/media/{id}', { params, body: { alt_text: alt } })),
    accepted: (changed) => {
      client.setQueryData(['media', m.id], changed)
      done()
    },
    done: () => t('media.saved'),
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/media/{id}', { params })),
    accepted: done,
    done: () => t('act.deleted', { name: m.file_name }),
  })
  const size = new Intl.NumberFormat(i18n.language, {
    style: 'unit',
    unit: 'kilobyte',
    maximumFractionDigits: 0,
  }).format(Math.max(1, m.bytes / 1000))
  return (
    <FormDialog form={form} opened onClose={close} size="lg" title={m.file_name}>
      <Stack gap="sm">
        {m.kind === 'video' ? (
          <video src={mediaURL(m.id)} controls style={{ maxWidth: '100%', maxHeight: 360 }}>
            <track kind="captions" />
          </video>
        ) : m.kind === 'document' ? (
          <Anchor href={mediaURL(m.id)} size="sm">
            {t('media.download')}
          </Anchor>
        ) : (
          <img
            src={mediaURL(m.id)}
            alt={m.alt_text || m.file_name}
            style={{ maxWidth: '100%', maxHeight: 360, objectFit: 'contain', alignSelf: 'center' }}
          />
        )}
        <Text size="sm" c="dimmed">
          {m.mime_type} · {size}
          {m.width && m.height ? ` · ${m.width} × ${m.height}` : ''}
          {m.pages ? ` · ${t('media.pages', { count: m.pages })}` : ''} · <Time at={m.created_at} look="short" />
        </Text>
        {m.metadata_removed.length > 0 && (
          <Text size="sm" c="dimmed">
            {t('media.removed')}{' '}
            {new Intl.ListFormat(i18n.language).format(
              m.metadata_removed.map((kind) => t(`media.removedKinds.${kind}`)),
            )}
            .
          </Text>
        )}
        {m.kind !== 'document' && (
          <Textarea
            label={t('media.altText')}
            description={t('media.altPlaceholder')}
            autosize
            minRows={2}
            value={alt}
            readOnly={!may}
            onChange={(e) => setAlt(e.currentTarget.value)}
            data-autofocus
          />
        )}
        {fitness.data && fitness.data.accounts.length > 0 && (
          <Stack gap={4} component="section" aria-label={t('media.fits')}>
            <Text size="sm" fw={600}>
              {t('media.fits')}
            </Text>
            {fitness.data.accounts.map((a) => (
              <Alert key={a.account_id} color={verdicts[a.fits]} p={6} icon={<NetworkIcon network={a.network} />}>
                <Text size="sm">
                  {a.handle}: {t(`media.verdict.${a.fits}`)}{' '}
                  {[...a.changes.map(noteText), ...a.reasons.map(problemText)].join(' ')}
                </Text>
              </Alert>
            ))}
          </Stack>
        )}
        {may && (
          <Group justify="space-between">
            <Button
              variant="subtle"
              color="red"
              leftSection={<IconTrash size={16} aria-hidden />}
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            >
              {t('media.delete')}
            </Button>
            <Button disabled={alt === m.alt_text} loading={save.isPending} onClick={() => save.mutate()}>
              {t('save')}
            </Button>
          </Group>
        )}
      </Stack>
    </FormDialog>
  )
}
