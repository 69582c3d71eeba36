import commands from '../en/commands.json';
import { addTexts } from './add-texts.ts';

addTexts({ commands });
