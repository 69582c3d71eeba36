import executions from '../en/executions.json';
import { addTexts } from './add-texts.ts';

await addTexts({ executions }, () => import('../ja-executions.ts'));
