import workflow from '../en/workflow.json';
import { addTexts } from './add-texts.ts';

await addTexts({ workflow }, () => import('../ja-first.ts'));
