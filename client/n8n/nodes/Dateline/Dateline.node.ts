import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType, INodeTypeDescription } from 'n8n-workflow';
import { NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';
import { properties } from './descriptions';
import { accounts, list, request, sites } from './request';

type Operation = (context: IExecuteFunctions, item: number) => Promise<IDataObject | IDataObject[]>;

const text = (context: IExecuteFunctions, name: string, item: number) => String(context.getNodeParameter(name, item, '')).trim();

const path = (context: IExecuteFunctions, name: string, item: number) => encodeURIComponent(text(context, name, item));

/** The day of a date, without a conversion to another time zone. */
const day = (context: IExecuteFunctions, name: string, item: number) => text(context, name, item).slice(0, 10);

const operations: Record<string, Operation> = {
	'post:schedule': async (context, item) => {
		const draft = context.getNodeParameter('draft', item, false) as boolean;
		const chosen = context.getNodeParameter('accounts', item, []) as string[];
		const attachments = text(context, 'attachments', item).split(',').map((id) => id.trim()).filter(Boolean);
		const key = text(context, 'idempotencyKey', item);
		return await request(context, 'POST', '/posts', {
			headers: key ? { 'Idempotency-Key': key } : {},
			body: {
				content: context.getNodeParameter('content', item, '') as string,
				...(draft ? { draft } : { scheduled_time: text(context, 'scheduledTime', item) }),
				...(chosen.length > 0 ? { accounts: chosen } : {}),
				...(attachments.length > 0 ? { attachments } : {}),
			},
		});
	},
	'post:get': async (context, item) => await request(context, 'GET', `/posts/${path(context, 'postId', item)}`),
	'post:cancel': async (context, item) => {
		const address = `/posts/${path(context, 'postId', item)}`;
		const { version } = await request(context, 'GET', address);
		return await request(context, 'DELETE', address, { headers: { 'If-Match': `"${version as number}"` } });
	},
	'post:getAll': async (context, item) => {
		const status = context.getNodeParameter('status', item, []) as string[];
		return await list(context, '/posts', 'posts', status.length > 0 ? { status: status.join(',') } : {}, context.getNodeParameter('limit', item, 50) as number);
	},
	'media:upload': async (context, item) => {
		const field = context.getNodeParameter('binaryProperty', item) as string;
		const binary = context.helpers.assertBinaryData(item, field);
		const form = new FormData();
		form.append('alt_text', text(context, 'altText', item)); // has to come before the file
		form.append('file', new Blob([new Uint8Array(await context.helpers.getBinaryDataBuffer(item, field))], { type: binary.mimeType }), binary.fileName ?? 'file');
		return await request(context, 'POST', '/media', { body: form, json: false });
	},
	'article:search': async (context, item) =>
		await list(context, '/search', 'hits', { q: text(context, 'query', item) }, context.getNodeParameter('limit', item, 50) as number),
	'site:report': async (context, item) =>
		await request(context, 'GET', `/sites/${path(context, 'siteId', item)}/report`, { qs: { from: day(context, 'from', item), to: day(context, 'to', item) } }),
};

/** Controls Dateline. */
export class Dateline implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Dateline',
		name: 'dateline',
		icon: { light: 'file:dateline.svg', dark: 'file:dateline.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description: 'Schedule posts, search articles and read reports',
		defaults: { name: 'Dateline' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'datelineApi', required: true }],
		properties,
	};

	methods = { loadOptions: { accounts, sites } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const out: INodeExecutionData[] = [];
		for (let item = 0; item < this.getInputData().length; item++) {
			try {
				const name = `${this.getNodeParameter('resource', item) as string}:${this.getNodeParameter('operation', item) as string}`;
				const operation = operations[name];
				if (!operation) throw new NodeOperationError(this.getNode(), `There is no operation ${name}`, { itemIndex: item });
				const result = await operation(this, item);
				out.push(...this.helpers.constructExecutionMetaData(this.helpers.returnJsonArray(result), { itemData: { item } }));
			} catch (error) {
				if (!this.continueOnFail()) throw new NodeOperationError(this.getNode(), error as Error, { itemIndex: item });
				out.push({ json: { error: (error as Error).message }, pairedItem: { item } });
			}
		}
		return [out];
	}
}
