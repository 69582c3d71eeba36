import workflows from '../en/workflows.json';
import { addTexts } from './add-texts.ts';

addTexts({ workflows });
