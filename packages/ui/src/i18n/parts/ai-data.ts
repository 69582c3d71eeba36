import aiData from '../en/ai-data.json';
import { addTexts } from './add-texts.ts';

await addTexts({ aiData }, () => import('../ja-pages.ts'));
