import { ActionIcon, Box, Button, Group, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { IconCrop, IconLibraryPhoto, IconPhotoPlus, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Media, unwrap } from '../../api/client'
import { Progress } from '../../components/Progress'
import { mediaQuery } from '../../lib/queries'
import { notifyError, notifyRefused, notifySuccess } from '../../lib/notify'
import { uploadAll, useUploads } from '../../lib/uploads'
import { Crop } from './Crop'
import { Library } from './Library'
import { Thumb } from './Thumb'
import { describing } from './describing'

const accepted = 'image/jpeg,image/png,image/gif,image/webp,video/mp4,video/quicktime,video/webm,application/pdf'

interface Props {
  label: string
  value: string[]
  add: (m: Media) => void
  remove: (id: string) => void
  replace: (id: string, by: Media) => void
  /** Called when all files that were added together are uploaded. */
  added?: (ids: string[]) => void
  /** Allows choosing files of the library. */
  library?: boolean
}

/** Files of one segment: dropped, pasted or chosen; each with its description. */
export function MediaField({ label, value, add, added, remove, replace, library }: Props) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [over, setOver] = useState(false)
  const [choosing, setChoosing] = useState(false)
  const [mine, setMine] = useState<string[]>([])
  const sending = useUploads().filter((s) => mine.includes(s.key))
  const input = useRef<HTMLInputElement>(null)
  const isHere = useRef(true)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])

  async function send(files: Iterable<File>) {
    const made = await uploadAll(
      files,
      (key) => setMine((keys) => [...keys, key]),
      (media) => {
        client.setQueryData(['media', media.id], media)
        void client.invalidateQueries({ queryKey: ['media-list'] })
        if (isHere.current) add(media)
        else notifySuccess(t('uploads.done', { name: media.file_name }))
      },
      (file, error) => notifyRefused(t('uploads.failed', { name: file.name }), error),
    )
    if (made.length > 0 && isHere.current) added?.(made.map((m) => m.id))
  }

  return (
    <Box
      className="dl-drop"
      p="xs"
      data-over={over || undefined}
      onDragOver={(e) => {
        if (!e.dataTransfer.types.includes('Files')) return
        e.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault()
        setOver(false)
        void send(e.dataTransfer.files)
      }}
    >
      <Group gap="xs">
        <input
          ref={input}
          type="file"
          accept={accepted}
          multiple
          hidden
          aria-label={label}
          onChange={(e) => {
            void send([...(e.currentTarget.files ?? [])])
            e.currentTarget.value = ''
          }}
        />
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconPhotoPlus size={18} aria-hidden />}
          onClick={() => input.current?.click()}
          aria-label={label}
        >
          {t('compose.addMedia')}
        </Button>
        {library && (
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<IconLibraryPhoto size={18} aria-hidden />}
            onClick={() => setChoosing(true)}
          >
            {t('library.open')}
          </Button>
        )}
        <Text size="sm" c="dimmed">
          {t('compose.dropHere')}
        </Text>
      </Group>
      {choosing && (
        <Library
          has={value}
          close={() => setChoosing(false)}
          choose={(all) => {
            for (const m of all) {
              client.setQueryData(['media', m.id], m)
              add(m)
            }
            added?.(all.map((m) => m.id))
          }}
        />
      )}
      {(value.length > 0 || sending.length > 0) && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} mt="xs" spacing="xs">
          {value.map((id) => (
            <Attached key={id} id={id} remove={() => remove(id)} replace={(m) => replace(id, m)} />
          ))}
          {sending.map((s) => (
            <Box key={s.key} p="xs" className="dl-card">
              <Progress
                label={t('compose.uploading', { name: s.name })}
                done={Math.round(s.share * s.bytes)}
                total={s.bytes}
                at={s.at}
                unit="bytes"
                cancel={s.cancel}
              />
            </Box>
          ))}
        </SimpleGrid>
      )}
    </Box>
  )
}

function Attached({ id, remove, replace }: { id: string; remove: () => void; replace: (m: Media) => void }) {
  const [cutting, setCutting] = useState(false)
  const { t } = useTranslation()
  const client = useQueryClient()
  const media = useQuery(mediaQuery(id)).data
  const [text, setText] = useState<string>()
  const describe = useMutation({
    mutationKey: describing,
    gcTime: Infinity,
    mutationFn: (alt_text: string) =>
      unwrap(api.PATCH('/api/v1/media/{id}', { params: { path: { id } }, body: { alt_text } })),
    onSuccess: (m) => client.setQueryData(['media', id], m),
    onError: notifyError,
  })
  const name = media?.file_name ?? ''
  const isDocument = media?.kind === 'document'
  const missing = media !== undefined && (text ?? media.alt_text).trim() === ''
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" className="dl-card" p={6} data-media={id}>
      <Box w={84} h={84} style={{ flexShrink: 0, overflow: 'hidden', borderRadius: 6 }}>
        <Thumb media={media} />
      </Box>
      {isDocument ? (
        <Box flex={1} miw={0}>
          <Text size="sm" fw={500} truncate title={name}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {t('media.pages', { count: media.pages ?? 0 })}
          </Text>
        </Box>
      ) : (
        <Textarea
          flex={1}
          size="xs"
          minRows={3}
          maxRows={6}
          autosize
          label={t('media.altText')}
          placeholder={t('media.altPlaceholder')}
          error={missing ? t('media.altMissing') : undefined}
          maxLength={10_000}
          value={text ?? media?.alt_text ?? ''}
          disabled={media === undefined} // or what is typed would replace the description that is being loaded
          onChange={(e) => setText(e.currentTarget.value)}
          onBlur={() => text !== undefined && text !== media?.alt_text && describe.mutate(text)}
        />
      )}
      <Stack gap={4}>
        <ActionIcon variant="subtle" color="red" onClick={remove} aria-label={t('compose.removeMedia', { name })}>
          <IconTrash size={18} aria-hidden />
        </ActionIcon>
        {media?.kind === 'image' && (
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={() => setCutting(true)}
            aria-label={t('media.cropThis', { name })}
          >
            <IconCrop size={18} aria-hidden />
          </ActionIcon>
        )}
      </Stack>
      {cutting && media && (
        <Crop
          media={media}
          close={() => setCutting(false)}
          done={(made) => {
            setCutting(false)
            replace(made)
          }}
        />
      )}
    </Group>
  )
}
